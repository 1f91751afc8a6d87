"""What a network computes with, and is to learn, learns."""

import weakref

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.cuts import CutRecorder, find_cut
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import (
    Invariant,
    checksum_of,
    find_name,
    list_parameters,
)

STEPS = 10


class CutOff(Invariant):
    """A new parameter that changes what a network gives gets a gradient by it, where an optimizer
    has it.

    Why: an optimizer is given what is to learn. Where the output depends on a parameter, and the
    graph does not, something on the way has no gradient: an `argmax` or `round` without a
    straight-through estimator, a `detach()` too many, `.data`, a number taken by `item()`, an array
    of numpy. The parameter stays as it was made.

    Of parameters without a gradient, or with zeros alone, at the first ten steps of an optimizer
    that has others with gradients. In a copy of the module they are replaced by noise: the outputs
    change by more than a thousandth, and autograd says that they do not depend on them.

    Excepted: parameters of modules that are not called, are called under `no_grad`, or were loaded
    or copied (features that are used as they are); what some other code changes (codebooks that
    follow averages); outputs from which a gradient would come, and that the loss does not use.

    Cost: a look at the gradients of ten steps; three calls of a copy where some are missing, once.
    """

    NAME, LIGHT = "cut-off", False
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.counts, self.silent = IdentityTable(), IdentityTable()
        self.sums, self.suspects = {}, []
        self.made, self.loaded = {}, IdentitySet()
        torch.nn.modules.module.register_module_parameter_registration_hook(self._register)

    def _register(self, module, name, parameter):
        if parameter is not None:
            self.made[id(parameter)] = weakref.ref(parameter)

    def after_load(self, loaded):
        if isinstance(loaded, torch.nn.Module):
            self.loaded.update(loaded.modules())

    def before_step(self, optimizer):
        count = self.counts[optimizer] = self.counts.get(optimizer, 0) + 1
        if count > STEPS:
            return
        parameters = list_parameters(optimizer)
        before = self.silent.get(optimizer, {id(parameter) for parameter in parameters})
        silent = [
            parameter
            for parameter in parameters
            if id(parameter) in before and is_silent(parameter)
        ]
        self.silent[optimizer] = {id(parameter) for parameter in silent}
        if count == STEPS - 1:
            self.sums = {id(parameter): checksum_of(parameter) for parameter in silent}
        if count == STEPS and len(silent) < len(parameters):
            self._suspect(silent)

    def _suspect(self, silent):
        """Remember the parameters that are new, and that nobody else has changed."""
        for parameter in silent:
            was_made = self.made.get(id(parameter), lambda: None)() is parameter
            # Decay changes what has zeros for a gradient.
            is_same = self.sums.get(id(parameter)) == checksum_of(parameter)
            if was_made and parameter.requires_grad and (is_same or parameter.grad is not None):
                self.suspects.append(weakref.ref(parameter))

    def before_forward(self, module, arguments, options):
        if not self.suspects or not torch.is_grad_enabled():
            return
        module = copies.unwrap(module)
        suspects = {id(reference()) for reference in self.suspects}
        numbers = [
            number
            for number, parameter in enumerate(module.parameters())
            if id(parameter) in suspects and not self._is_loaded(module, parameter)
        ]
        if not numbers or not module.training:
            return
        held = list(module.parameters())
        chosen = {id(held[number]) for number in numbers}
        self.suspects = [reference for reference in self.suspects if id(reference()) not in chosen]
        twin = copies.duplicate_all(module, arguments, options)
        recorder = CutRecorder(self.program)
        cut = twin and copies.attempt(self.program, find_cut, numbers, recorder, *twin)
        if cut:
            self._report([held[number] for number in cut], recorder)

    def _is_loaded(self, module, parameter):
        owners = [part for part in module.modules() if has_of_its_own(part, parameter)]
        return any(part in self.loaded for part in owners)

    def _report(self, parameters, recorder):
        names = [find_name(self.program, parameter) or "a parameter" for parameter in parameters]
        name, where = recorder.find_only()
        way = f": `{name}` ends the graph" if name else ""
        self.report(
            f"the output depends on {', '.join(names[:3])}"
            f"{' and others' if len(names) > 3 else ''}, which the optimizer has, and no gradient "
            f"has come to {'it' if len(names) == 1 else 'them'} in {STEPS} steps{way}",
            api=f"torch.Tensor.{name}" if name else "torch.Tensor.backward",
            parameter=names[0],
            where=where,
        )


def has_of_its_own(module, parameter):
    """Whether a module has this parameter itself, and not by a part."""
    return any(parameter is member for member in module._parameters.values())


def is_silent(parameter):
    """Whether a parameter has no gradient, or zeros alone."""
    gradient = parameter.grad
    if gradient is None:
        return True
    if gradient.is_meta or gradient.layout != torch.strided:
        return False
    return not bool(gradient.detach().any())
