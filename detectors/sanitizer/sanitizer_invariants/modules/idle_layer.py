"""A layer that is trained takes part."""

import sys

from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, list_parameters

STEPS, CALLS = 20, 20


class IdleLayer(Invariant):
    """Each layer that a class of the program has, and an optimizer trains, is called.

    Why: who gives a network a layer wants its outputs to depend on it. A layer that `forward`
    leaves out has no gradients, and the network is less deep than its definition says.

    Of layers with parameters that a class of the program, and not of a package, keeps as
    attributes; the network was called 20 times and an optimizer that has the parameters has made
    20 steps. No part of the layer was called, its parameters have never had a gradient, and other
    layers of the same class have been called. Said at the end.

    It is advice: a branch may call it, and what an earlier state has left behind does no harm.

    Excepted: frozen layers; parameters that another layer uses, too; lists of which a part is
    called.

    Cost: a note for each module that is called for the first time; a look at the gradients at the
    first 20 steps, and once at the end.
    """

    NAME, SEVERITY = "idle-layer", "info"
    VERSION = 6

    def __init__(self, program, report):
        super().__init__(program, report)
        self.called, self.tops = IdentitySet(), IdentityTable()
        self.steps, self.held, self.graded = 0, set(), set()
        # What was idle when it was looked at last: a network may be gone before the end.
        self.idle = []

    def before_forward(self, module, arguments, options):
        self.called.add(module)
        self.tops[module] = self.tops.get(module, 0) + 1

    def inner_forward(self, module):
        self.called.add(module)

    def before_step(self, optimizer):
        self.steps += 1
        if self.steps > STEPS and self.steps & (self.steps - 1) == 0:
            self._look()
        if self.steps > STEPS * 5:
            return
        for parameter in list_parameters(optimizer):
            self.held.add(id(parameter))
            if parameter.grad is not None:
                self.graded.add(id(parameter))

    def end(self):
        if self.steps < STEPS:
            return
        if any(calls >= CALLS for calls in self.tops.values()):
            self._look()
        for idle in self.idle:
            self.report(
                f"`{idle.name}` of {idle.owner} is trained by an optimizer, and never called: the "
                "network is computed without it",
                api=idle.api,
                parameter=idle.name,
            )

    def _look(self):
        self.idle = []
        for top, calls in list(self.tops.items()):
            if calls >= CALLS:
                self.idle += self._find_idle(top)

    def _find_idle(self, top):
        idle_layers = []
        for owner in top.modules():
            if owner not in self.called or not is_of_program(type(owner)):
                continue
            layers = [item for item in owner.named_children() if self._is_learnt(item[1])]
            idle = [(name, layer) for name, layer in layers if self._is_idle(layer)]
            if len(idle) < len(layers):
                idle_layers += [Idle(type(owner), name, layer) for name, layer in idle]
        return idle_layers

    def _is_learnt(self, layer):
        parameters = list(layer.parameters())
        return bool(parameters) and all(
            parameter.requires_grad and id(parameter) in self.held for parameter in parameters
        )

    def _is_idle(self, layer):
        has_gradient = any(id(parameter) in self.graded for parameter in layer.parameters())
        is_called = any(part in self.called for part in layer.modules())
        return not has_gradient and not is_called


class Idle:
    """A layer that was never called: the class of its owner, its name and its own class."""

    def __init__(self, owner, name, layer):
        self.owner, self.name = owner.__name__, name
        self.api = f"{type(layer).__module__}.{type(layer).__name__}"


def is_of_program(kind):
    """Whether a class stands in a file of the program, and in no package that is installed."""
    module = sys.modules.get(kind.__module__)
    path = getattr(module, "__file__", None) or ""
    return kind.__module__ == "__main__" or (bool(path) and "site-packages" not in path)
