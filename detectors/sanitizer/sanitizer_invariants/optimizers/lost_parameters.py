"""Parameters that are in no optimizer, although backward passes compute their gradients."""

import weakref

import torch

from sanitizer_invariants.tools.equality import has_own_equality
from sanitizer_invariants.tools.graphs import find_roots
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, list_parameters
from sanitizer_invariants.tools.passage import find_passed
from sanitizer_invariants.tools.waiting import STEPS, Waiting, is_looked_at

LATE, BETWEEN = "made after the optimizer", "between trained ones and the loss"
# As many times more parameters than the optimizer has are there to be used.
TIMES = 10


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
    and what stands between, where it has ten times as many numbers as the optimizer (prompts,
    adapters and inputs that are learnt for a network that was not frozen). What an optimizer once
    had is not looked at.

    Cost: a walk over the parameters at the first five steps and at three of fifty, and over the
    graph where something is found.
    """

    NAME = "lost-parameters"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.registered, self.waiting, self.counts = {}, Waiting(), IdentityTable()
        self.starts, self.loaded = IdentityTable(), IdentitySet()
        self.roots, self.learnt, self.first = [], {}, lambda: None
        self.called = {}
        self.passes = 0
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

    def before_forward(self, module, arguments, options):
        self.called[id(module)] = weakref.ref(module)

    def before_backward(self, tensors):
        """Keep where the graph of a step begins, if that step will be looked at."""
        self.passes += 1
        counts = [self.counts.get(optimizer, 0) for optimizer in self.program.optimizers()]
        if any(is_looked_at(count + 1) for count in counts):
            self.roots += find_roots(tensors)

    def before_step(self, optimizer):
        self.counts[optimizer] = self.counts.get(optimizer, 0) + 1
        # Of the steps of several optimizers those of one count.
        self.first = weakref.ref(optimizer) if self.first() is None else self.first
        roots, self.roots = self.roots, []
        if not is_looked_at(self.counts[optimizer]):
            return
        for other in self.program.optimizers():
            learning = list_parameters(other)
            self.learnt |= {id(parameter): weakref.ref(parameter) for parameter in learning}
        ids = {id(parameter) for parameter in list_parameters(optimizer)}
        for module in self.program.modules():
            if has_one_of(module, ids):
                self._judge(optimizer, module, self._list_waiting(module), roots)
            elif self.first() is optimizer and self._is_alone(module):
                # A network by itself may be there for its gradients alone, as a loss is.
                waiting = self._list_waiting(module)
                between = self._select_between(module, waiting, ids, roots)
                self._report(optimizer, between, BETWEEN, "error")

    def _is_alone(self, module):
        """Whether a network is called by itself, and no optimizer ever had a part of it."""
        is_called = self.called.get(id(module), lambda: None)() is module
        return is_called and not any(map(self._is_learnt, module.parameters()))

    def _list_waiting(self, module):
        """The parameters of a module that wait, by name."""
        return {
            name: parameter
            for name, parameter in module.named_parameters()
            if not self._is_learnt(parameter) and self._waits(parameter)
        }

    def _is_learnt(self, parameter):
        """Whether an optimizer has, or once had, a parameter."""
        return self.learnt.get(id(parameter), lambda: None)() is parameter

    def _judge(self, optimizer, module, waiting, roots):
        """Report the parameters of a module that wait, while others of it are trained."""
        ids = {id(parameter) for parameter in list_parameters(optimizer)}
        late = {
            name
            for name, parameter in waiting.items()
            if self._is_late(parameter, optimizer)
            and self._is_to_learn(module, name, ids, optimizer)
        }
        early = {name: waiting[name] for name in waiting if name not in late}
        between = self._select_between(module, early, ids, roots)
        self._report(optimizer, [name for name in waiting if name in late], LATE, "error")
        self._report(optimizer, between, BETWEEN, "error")
        self._report(optimizer, [name for name in early if name not in between], "", "info")

    def _select_between(self, module, early, ids, roots):
        """The names of new parameters by which gradients come to trained ones; none where they are
        many times as many.
        """
        # What is learnt for a network as its input is no parameter of a module.
        ids = {number for number in ids if number in self.registered}
        learning = [self.learnt[number]().numel() for number in ids]
        fresh = {
            name: parameter
            for name, parameter in early.items()
            if self._is_fresh(module, name, parameter)
        }
        count = sum(parameter.numel() for parameter in fresh.values())
        if not fresh or count > TIMES * sum(learning):
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
        return self.waiting.count(parameter, self.passes) == STEPS

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
