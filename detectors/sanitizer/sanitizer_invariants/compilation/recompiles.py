"""A compiled step is not compiled again for each value of a hyperparameter."""

import torch

from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, list_parameters

WORTH = 100


class Recompiles(Invariant):
    """Code of an optimizer's step is not thrown out, time and again,
    because a hyperparameter has another value.

    Why: a step is compiled to be run many times. To compile takes seconds, to run milliseconds:
    code that was run fewer than a hundred times has cost more than it saves. After some
    compilations more Dynamo gives up and says so in a log at best. What changes all the time has to
    be a tensor that is written to.

    Only calls are looked at between which nothing else changed that the code depends on: the
    parameters, their gradients (None or not, shapes and types), the state. The first such
    compilation is not accused, because it may be the one that makes the value dynamic; the second
    is, if the one before was at most a hundred calls ago.

    Excepted: schedules that change a value after many steps; whatever is compiled in the first
    calls; steps with a closure, which may compile something of its own.

    Cost: a tuple of the hyperparameters and one of all gradients' shapes, at each step, once this
    one is compiled.
    """

    NAME = "recompiles"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.before, self.closure = (
            IdentityTable(),
            IdentityTable(),
            False,
        )

    def before_backward(self, tensors):
        self.closure = True

    def before_step(self, optimizer):
        self.before[optimizer], self.closure = self.program.compilations(), False

    def after_step(self, optimizer):
        now = self.program.compilations()
        compiled = now - self.before.pop(optimizer, now)
        if self.closure or not (compiled > 0 or optimizer in self.calls):
            return
        values, rest_values = _hyperparameters(optimizer), _others(optimizer)
        count, old_values, old_others, last = self.calls.get(optimizer, (0, None, None, None))
        again = compiled > 0 and values != old_values and rest_values == old_others
        if again and last is not None and count - last <= WORTH:
            self._report(optimizer, values, old_values)
        self.calls[optimizer] = count + 1, values, rest_values, count if again else last

    def _report(self, optimizer, values, old_values):
        names = sorted({name for (_, name, now), old in zip(values, old_values) if now != old[2]})  # noqa: B905
        self.report(
            f"the step of {type(optimizer).__name__} is compiled again because "
            f"{' and '.join(names)} of a group has another value, type or identity than at the "
            "call before",
            api="torch.compile",
            iteration=self.program.iteration_of(optimizer),
        )


def _hyperparameters(optimizer):
    """Of each group, in order: numbers by type and value, tensors by identity."""
    return [
        (
            number,
            name,
            (type(value).__name__, id(value) if isinstance(value, torch.Tensor) else repr(value)),
        )
        for number, group in enumerate(optimizer.param_groups)
        for name, value in group.items()
        if name != "params"
    ]


def _others(optimizer):
    return [
        (
            id(parameter),
            _kind(parameter),
            _kind(parameter.grad),
            len(optimizer.state.get(parameter, ())),
        )
        for parameter in list_parameters(optimizer)
    ]


def _kind(value):
    if not isinstance(value, torch.Tensor):
        return type(value).__name__
    return tuple(value.shape), value.dtype, value.layout, value.requires_grad
