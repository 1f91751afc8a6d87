"""Layers that a model calls and does not know."""

import weakref

import torch

from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, list_own_parameters, list_parameters
from sanitizer_invariants.tools.waiting import STEPS, Waiting, is_looked_at


class UnregisteredModule(Invariant):
    """A new layer that is called inside of a model that is trained is part of it,
    or of an optimizer.

    Why: layers in a plain list or dictionary are in no `parameters()`: they are not trained, not
    moved to a device, and not saved, although each backward pass computes their gradients.

    Excepted: networks that were loaded, copied from others, or are in evaluation mode (a teacher or
    a loss may be hidden from the model on purpose), what needs no gradient, and what some other
    code changes between the steps.

    Cost: a look-up at each call of a layer, and a look at the hidden ones at the first steps and at
    three of fifty.
    """

    NAME = "unregistered-module"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.root, self.known, self.loaded = None, IdentitySet(), IdentitySet()
        # A copy, or what is unpickled, registers nothing.
        self.births = IdentitySet()
        torch.nn.modules.module.register_module_parameter_registration_hook(
            lambda module, *_: self.births.add(module)
        )
        self.hidden, self.waiting, self.counts = (
            IdentityTable(),
            Waiting(),
            IdentityTable(),
        )

    def before_forward(self, module, arguments, options):
        self.root = weakref.ref(module)

    def inner_forward(self, module):
        if module in self.known:
            return
        self.known.add(module)
        root = self.root() if self.root is not None else None
        if root is None or module not in self.births:
            return
        if all(module is not registered for registered in root.modules()):
            self.hidden[module] = self.root, self.program.here()

    def after_load(self, loaded):
        if isinstance(loaded, torch.nn.Module):
            self.loaded.update(loaded.modules())

    def before_step(self, optimizer):
        self.counts[optimizer] = self.counts.get(optimizer, 0) + 1
        if not self.hidden or not is_looked_at(self.counts[optimizer]):
            return
        owned = {
            id(parameter)
            for optimizer in self.program.optimizers()
            for parameter in list_parameters(optimizer)
        }
        ids = {id(parameter) for parameter in list_parameters(optimizer)}
        for module, (root, where) in list(self.hidden.items()):
            model = root()
            if model is None or not module.training or module in self.loaded:
                continue
            if any(id(parameter) in ids for parameter in model.parameters()) and self._waits(
                module, owned
            ):
                self._report(optimizer, model, module, where)

    def _waits(self, module, owned):
        counts = [
            self.waiting.count(parameter)
            for parameter in list_own_parameters(module)
            if id(parameter) not in owned
        ]
        return STEPS in counts

    def _report(self, optimizer, model, module, where):
        del self.hidden[module]
        self.report(
            f"{type(model).__name__} calls a {type(module).__name__} that is not part of it (is it "
            "in a plain list?): its parameters have gradients and are in no optimizer",
            api="torch.nn.Module.parameters",
            iteration=self.program.iteration_of(optimizer),
            where=where,
        )
