"""Are zero_grad, backward and step called in an order that makes sense?

Two orders do not, for one optimizer, between two of its steps:

- `backward` adds to gradients that the last step has used already, and nothing clears them before the next step;
- `backward`, then `zero_grad`, then `step`: the gradients are thrown away.

Calls alone cannot tell, as gradients may be cleared by hand (`parameter.grad = None`). So before an alarm the gradients
are looked at: if all are None or zero, they were cleared. Several `backward` before a step are gradient accumulation; a
step without `backward` uses the same gradients again; both are left alone, and so is `backward` inside of a step.
"""


def parameters_of(optimizer):
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def is_clear(parameters):
    """Whether no parameter has a gradient other than zero."""
    for parameter in parameters:
        gradient = parameter.grad
        if gradient is not None and bool((gradient.coalesce().values() if gradient.is_sparse else gradient).any()):
            return False
    return True


class Sequence:
    def __init__(self, optimizer, emit):
        self.optimizer, self.emit = optimizer, emit
        self.stepping = self.stale = self.cleared = self.fresh = self.thrown_away = False

    def before_backward(self, iteration, loss):
        if self.stepping:
            return
        # The first one after a step: here are the gradients that the step has used, or nothing.
        if self.stale and not self.cleared and not self.fresh:
            self.cleared = is_clear(parameters_of(self.optimizer))
        self.fresh, self.thrown_away = True, False

    def after_zero_grad(self, iteration):
        if not self.stepping:
            self.cleared, self.thrown_away, self.fresh = True, self.fresh or self.thrown_away, False

    def before_step(self, iteration):
        if self.fresh and self.stale and not self.cleared:
            self.emit(
                "no-zero-grad",
                "gradients of the last step were not cleared: backward added to them",
                severity="error",
                api="torch.optim.Optimizer.zero_grad",
            )
        if self.thrown_away and is_clear(parameters_of(self.optimizer)):
            self.emit(
                "zero-grad-before-step",
                "gradients were cleared between backward and step",
                severity="error",
                api="torch.optim.Optimizer.zero_grad",
            )
        self.stepping = True

    def after_step(self, iteration):
        self.stale = True
        self.stepping = self.cleared = self.fresh = self.thrown_away = False


def attach(model, optimizer, emit):
    return Sequence(optimizer, emit)
