"""Parameters that are in no optimizer, although backward passes compute their gradients."""

import weakref

import torch

from sanitizer_invariants.base import Invariant, parameters
from sanitizer_invariants.waiting import STEPS, Waiting, is_looked_at


class LostParameters(Invariant):
    """What is added to a model whose other parameters an optimizer trains, and gets gradients, is trained too.

    Why: a layer that is made (or replaced, or reparametrized) after the optimizer is not in it, and stays as it was
    initialized. Nobody pays for gradients of a new layer to leave it at random.

    Excepted: parameters that were there when the optimizer was made (their gradients are wasted work: advice), those
    that need no gradient, and those that some other code changes between the steps.

    Cost: a walk over the parameters at the first five steps and at three of fifty.
    """

    NAME = "lost-parameters"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.registered, self.waiting, self.counts = {}, Waiting(), weakref.WeakKeyDictionary()
        torch.nn.modules.module.register_module_parameter_registration_hook(self._register)

    def _register(self, module, name, parameter):
        """Remember which optimizers were there at the first time."""
        reference, _ = self.registered.get(id(parameter), (lambda: None, None))
        if parameter is not None and reference() is not parameter:
            there = [weakref.ref(each) for each in self.program.optimizers()]
            self.registered[id(parameter)] = weakref.ref(parameter), there

    def before_step(self, optimizer):
        self.counts[optimizer] = self.counts.get(optimizer, 0) + 1
        if not is_looked_at(self.counts[optimizer]):
            return
        owned = {id(each) for one in self.program.optimizers() for each in parameters(one)}
        own = {id(each) for each in parameters(optimizer)}
        for module in self.program.modules():
            members = dict(module.named_parameters())
            if not any(id(each) in own for each in members.values()):
                continue
            lost = [name for name, each in members.items() if id(each) not in owned and self._waits(each)]
            self._say(optimizer, [name for name in lost if self._is_late(members[name], optimizer)], "error")
            self._say(optimizer, [name for name in lost if not self._is_late(members[name], optimizer)], "info")

    def _waits(self, parameter):
        return self.waiting.count(parameter) == STEPS

    def _is_late(self, parameter, optimizer):
        reference, there = self.registered.get(id(parameter), (lambda: None, ()))
        return reference() is parameter and any(each() is optimizer for each in there)

    def _say(self, optimizer, names, severity):
        if names:
            late = "made after the optimizer, " if severity == "error" else ""
            self.report(
                f"{len(names)} parameters, {late}have gradients at {STEPS} steps in a row and are in no optimizer: "
                "they stay as they are",
                api="torch.optim.Optimizer.add_param_group",
                parameter=names[0],
                iteration=self.program.iteration_of(optimizer),
                severity=severity,
            )
