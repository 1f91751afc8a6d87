"""Parameters that are in no optimizer, although backward passes compute their gradients."""

import weakref

import torch

from sanitizer_invariants.tools.invariant import Invariant, list_parameters
from sanitizer_invariants.tools.waiting import STEPS, Waiting, is_looked_at


class LostParameters(Invariant):
    """What is added to a model whose other parameters an optimizer trains, and gets gradients,
    is trained too.

    Why: a layer that is made (or replaced, or reparametrized) after the optimizer is not in it, and
    stays as it was initialized. Nobody pays for gradients of a new layer to leave it at random.

    Excepted: parameters that need no gradient, and those that some other code changes between the
    steps. Advice, since their gradients are wasted work only: parameters that were there when the
    optimizer was made; what is joined with the model by a module made later (which may join a loss
    with it); and what is loaded by itself, or in evaluation mode.

    Cost: a walk over the parameters at the first five steps and at three of fifty.
    """

    NAME = "lost-parameters"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.registered, self.waiting, self.counts = {}, Waiting(), weakref.WeakKeyDictionary()
        self.starts, self.loaded = weakref.WeakKeyDictionary(), weakref.WeakSet()
        torch.nn.modules.module.register_module_parameter_registration_hook(self._register)
        torch.nn.modules.module.register_module_module_registration_hook(self._begin)

    def _register(self, module, name, parameter):
        """Remember which optimizers were there at the first time."""
        self._begin(module, name, parameter)
        reference, _ = self.registered.get(id(parameter), (lambda: None, None))
        if parameter is not None and reference() is not parameter:
            self.registered[id(parameter)] = weakref.ref(parameter), self._optimizers()

    def _begin(self, module, name, part):
        """The same of a module, at its first part; a copy, or what is unpickled,
        has its parts already.
        """
        if module not in self.starts:
            held = (*module._parameters.values(), *module._modules.values())
            is_new = all(holder is None for holder in held)
            self.starts[module] = self._optimizers() if is_new else []

    def _optimizers(self):
        return [weakref.ref(optimizer) for optimizer in self.program.optimizers()]

    def after_load(self, loaded):
        if isinstance(loaded, torch.nn.Module):
            self.loaded.add(loaded)

    def before_step(self, optimizer):
        self.counts[optimizer] = self.counts.get(optimizer, 0) + 1
        if not is_looked_at(self.counts[optimizer]):
            return
        owned = set()
        for other in self.program.optimizers():
            owned |= {id(parameter) for parameter in list_parameters(other)}
        ids = {id(parameter) for parameter in list_parameters(optimizer)}
        for module in self.program.modules():
            members = dict(module.named_parameters())
            if not has_one_of(module, ids):
                continue
            late, early = [], []
            for name, parameter in members.items():
                if id(parameter) in owned or not self._waits(parameter):
                    continue
                is_late = self._is_late(parameter, optimizer)
                if is_late and self._is_to_learn(module, name, ids, optimizer):
                    late.append(name)
                else:
                    early.append(name)
            self._report(optimizer, late, "error")
            self._report(optimizer, early, "info")

    def _waits(self, parameter):
        return self.waiting.count(parameter) == STEPS

    def _is_late(self, parameter, optimizer):
        reference, modules = self.registered.get(id(parameter), (lambda: None, ()))
        return reference() is parameter and any(module() is optimizer for module in modules)

    def _is_to_learn(self, model, name, ids, optimizer):
        """Whether a parameter was put, new, into a part of the model that the optimizer trained
        before.
        """
        parts = [model]
        for piece in name.split(".")[:-1]:
            parts.append(parts[-1]._modules[piece])
        trained = [part for part in parts if has_one_of(part, ids)]
        if all(self._began_with(part, optimizer) for part in trained):
            return False
        return all(part.training and part not in self.loaded for part in parts[len(trained) :])

    def _began_with(self, part, optimizer):
        """Whether the optimizer was there when the part got its first member."""
        return any(reference() is optimizer for reference in self.starts.get(part, ()))

    def _report(self, optimizer, names, severity):
        if names:
            late = "made after the optimizer, " if severity == "error" else ""
            self.report(
                f"{len(names)} parameters, {late}have gradients at {STEPS} steps in a row and are "
                "in no optimizer: they stay as they are",
                api="torch.optim.Optimizer.add_param_group",
                parameter=names[0],
                iteration=self.program.iteration_of(optimizer),
                severity=severity,
            )


def has_one_of(module, ids):
    """Whether one of the module's parameters is among these."""
    return any(id(parameter) in ids for parameter in module.parameters())
