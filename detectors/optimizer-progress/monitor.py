"""Does a step do something to the parameters that have gradients, and nothing to the others?

After `step()` a parameter with a gradient other than zero must have moved: its value, or its `step` in the optimizer's
state. A value has moved if its version counter has (every update in place counts) or, for optimizers that write past
that counter, if some of its elements are others. A parameter without a gradient must not have moved at all.

No mistake, and left alone: a learning rate of zero, a closure that computes gradients inside of the step (LBFGS),
and a step that a gradient scaler has made skip itself (`found_inf`).
"""

import torch

SAMPLE = 16


def sample(parameter):
    """A copy of some elements, spread over the whole parameter."""
    flat = parameter.detach().reshape(-1)
    return flat[:: max(1, flat.numel() // SAMPLE)].clone()


def has_gradient(parameter):
    gradient = parameter.grad
    return bool((gradient.coalesce().values() if gradient.is_sparse else gradient).any())


class Progress:
    def __init__(self, model, optimizer, emit):
        self.optimizer, self.emit = optimizer, emit
        self.names = {id(p): name for name, p in model.named_parameters()} if model is not None else {}
        self.before, self.stepping, self.closure = {}, False, False

    def before_backward(self, iteration, loss):
        self.closure = self.closure or self.stepping

    def before_step(self, iteration):
        self.stepping, self.closure = True, False
        groups = [group for group in self.optimizer.param_groups if float(group["lr"]) != 0]
        self.before = {p: self.state(p) for group in groups for p in group["params"]}

    def state(self, parameter):
        return parameter.grad is not None, parameter._version, sample(parameter), self.count(parameter)

    def count(self, parameter):
        """The number of steps that the optimizer has done to this parameter, by its own account."""
        count = self.optimizer.state.get(parameter, {}).get("step")
        return None if count is None else float(count)

    def after_step(self, iteration):
        self.stepping = False
        skipped = getattr(self.optimizer, "found_inf", None)
        if self.closure or (skipped is not None and bool(skipped)):
            return
        still, moved = [], []
        for parameter, (had_gradient, version, values, count) in self.before.items():
            value_moved = parameter._version != version or not torch.equal(sample(parameter), values)
            if had_gradient and not value_moved and self.count(parameter) == count and has_gradient(parameter):
                still.append(parameter)
            elif not had_gradient and (value_moved or self.count(parameter) not in (None, count)):
                moved.append(parameter)
        self.report("no-progress", "have gradients, and the step did nothing to them", still)
        self.report("moved-without-gradient", "have no gradients, and the step has changed them", moved)

    def report(self, code, what, parameters):
        if parameters:
            name = self.names.get(id(parameters[0]))
            message = f"{len(parameters)} of {len(self.before)} parameters {what}"
            self.emit(code, message, severity="error", api="torch.optim.Optimizer.step", parameter=name)


def attach(model, optimizer, emit):
    return Progress(model, optimizer, emit)
