"""Parameters that are in no optimizer, although backward passes compute their gradients."""

import weakref

import torch

from sanitizer_invariants.tools.equality import has_own_equality
from sanitizer_invariants.tools.graphs import find_roots
from sanitizer_invariants.tools.invariant import Invariant, list_parameters
from sanitizer_invariants.tools.passage import find_passed
from sanitizer_invariants.tools.waiting import STEPS, Waiting, is_looked_at


class LostParameters(Invariant):
    """What is added to a model whose other parameters an optimizer trains, or stands between these
    and the loss, and gets gradients, is trained too.

    Why: a layer that is made (or replaced, or reparametrized) after the optimizer is not in it, and
    stays as it was initialized. Nobody pays for gradients of a new layer to leave it at random. The
    same is true of a new layer that was there before, and by which the gradient comes to those that
    learn: who trains a body alone has a head that has learnt.

    Excepted: parameters that need no gradient, and those that some other code changes between the
    steps. Advice, since their gradients are wasted work only: what stands before the trained
    parameters (features that are used as they are); what is joined with the model by a module made
    later (which may join a loss with it); what is loaded by itself, copied, or in evaluation mode;
    and what stands between, where it has more numbers than the optimizer (prompts, adapters and
    inputs that are learnt for a network that was not frozen).

    Cost: a walk over the parameters at the first five steps and at three of fifty, and over the
    graph where something is found.
    """

    NAME = "lost-parameters"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.registered, self.waiting, self.counts = {}, Waiting(), weakref.WeakKeyDictionary()
        self.starts, self.loaded = weakref.WeakKeyDictionary(), weakref.WeakSet()
        self.roots = []
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
        if has_own_equality(module):
            return
        if module not in self.starts:
            held = (*module._parameters.values(), *module._modules.values())
            is_new = all(holder is None for holder in held)
            self.starts[module] = self._optimizers() if is_new else []

    def _optimizers(self):
        return [weakref.ref(optimizer) for optimizer in self.program.optimizers()]

    def after_load(self, loaded):
        if isinstance(loaded, torch.nn.Module):
            self.loaded.add(loaded)

    def before_backward(self, tensors):
        """Keep where the graph of a step begins, if that step will be looked at."""
        counts = [self.counts.get(optimizer, 0) for optimizer in self.program.optimizers()]
        if any(is_looked_at(count + 1) for count in counts):
            self.roots += find_roots(tensors)

    def before_step(self, optimizer):
        self.counts[optimizer] = self.counts.get(optimizer, 0) + 1
        roots, self.roots = self.roots, []
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
            late, early = {}, {}
            for name, parameter in members.items():
                if id(parameter) in owned or not self._waits(parameter):
                    continue
                is_late = self._is_late(parameter, optimizer)
                is_to_learn = is_late and self._is_to_learn(module, name, ids, optimizer)
                (late if is_to_learn else early)[name] = parameter
            between = self._select_between(module, early, ids, roots)
            self._report(optimizer, late, "made after the optimizer", "error")
            self._report(optimizer, between, "between trained ones and the loss", "error")
            rest = [name for name in early if name not in between]
            self._report(optimizer, rest, "", "info")

    def _select_between(self, module, early, ids, roots):
        """The names of new parameters by which gradients come to trained ones; none where they are
        more than those.
        """
        members = dict(module.named_parameters()).values()
        learning = sum(member.numel() for member in members if id(member) in ids)
        fresh = {
            name: parameter
            for name, parameter in early.items()
            if self._is_fresh(module, name, parameter)
        }
        if not fresh or sum(parameter.numel() for parameter in fresh.values()) > learning:
            return []
        passed = find_passed(roots, {id(parameter) for parameter in fresh.values()}, ids)
        return [name for name, parameter in fresh.items() if id(parameter) in passed]

    def _is_fresh(self, model, name, parameter):
        """Whether a parameter is as its module made it, before the optimizer, and learns."""
        reference, optimizers = self.registered.get(id(parameter), (lambda: None, ()))
        parts = list_parts(model, name)
        return (
            reference() is parameter
            and not any(optimizer() is not None for optimizer in optimizers)
            and all(part.training and part not in self.loaded for part in parts)
        )

    def _waits(self, parameter):
        return self.waiting.count(parameter) == STEPS

    def _is_late(self, parameter, optimizer):
        reference, modules = self.registered.get(id(parameter), (lambda: None, ()))
        return reference() is parameter and any(module() is optimizer for module in modules)

    def _is_to_learn(self, model, name, ids, optimizer):
        """Whether a parameter was put, new, into a part of the model that the optimizer trained
        before.
        """
        parts = list_parts(model, name)
        trained = [part for part in parts if has_one_of(part, ids)]
        if all(self._began_with(part, optimizer) for part in trained):
            return False
        return all(part.training and part not in self.loaded for part in parts[len(trained) :])

    def _began_with(self, part, optimizer):
        """Whether the optimizer was there when the part got its first member."""
        return any(reference() is optimizer for reference in self.starts.get(part, ()))

    def _report(self, optimizer, names, place, severity):
        names = list(names)
        if names:
            place = f", {place}," if place else ""
            self.report(
                f"{len(names)} parameters{place} have gradients at {STEPS} steps in a row and are "
                "in no optimizer: they stay as they are",
                api="torch.optim.Optimizer.add_param_group",
                parameter=names[0],
                iteration=self.program.iteration_of(optimizer),
                severity=severity,
            )


def list_parts(model, name):
    """The modules that hold a parameter, from the model to the innermost one."""
    parts = [model]
    for piece in name.split(".")[:-1]:
        parts.append(parts[-1]._modules[piece])
    return parts


def has_one_of(module, ids):
    """Whether one of the module's parameters is among these."""
    return any(id(parameter) in ids for parameter in module.parameters())
