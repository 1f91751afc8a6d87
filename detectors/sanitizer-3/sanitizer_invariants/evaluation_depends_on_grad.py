"""Evaluation gives the same numbers with gradients and without."""

import sys
import weakref
from pathlib import Path

import torch
from torch.nn.modules.module import register_module_forward_hook

from sanitizer_invariants import twins
from sanitizer_invariants.base import Invariant, sampled

TORCH = str(Path(torch.__file__).parent)
# Half of the digits of a double: kernels that sum up in different orders agree in more of them by far.
TOLERANCE = 1e-8


class EvaluationDependsOnGrad(Invariant):
    """A module in evaluation mode that is called without gradients gives what it gives with them.

    Why: whether gradients are wanted is no part of what a network computes. It only decides which kernel does so.

    Excepted: modules that draw random numbers, change their arguments or do not repeat themselves; those whose own code
    asks `torch.is_grad_enabled()`; outputs of other shapes; numbers that are zero or not finite in one of the two, as
    masked ones are; the nested tensors of `nn.TransformerEncoder`, whose padding comes out as something else by design.
    Rounding: what differs by more than a few units is computed again in double precision, where both agree up to half
    of the digits.

    Cost: a call of a deep copy, for the first five calls of a module and then for each 200th; three more, in double
    precision, where the first one differs.
    """

    NAME, LIGHT = "evaluation-depends-on-grad", False

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.twin = weakref.WeakKeyDictionary(), None

    def before_forward(self, module, arguments, options):
        self.twin = None
        if torch.is_grad_enabled() or not twins.evaluates(twins.bare(module)):
            return
        module = twins.bare(module)
        self.calls[module] = self.calls.get(module, 0) + 1
        if sampled(self.calls[module], 200) and any(each.requires_grad for each in module.parameters()):
            self.twin = twins.copied(module, arguments, options)

    def after_forward(self, module, arguments, options, output):
        twin, self.twin = self.twin, None
        culprit = twin and twins.attempted(self.program, look, output, *twin)
        if culprit:
            self.report(
                f"in evaluation mode the module {culprit} gives other numbers without gradients than with them",
                api=culprit,
            )


def look(output, module, arguments, options):
    """The name of what computes something else with gradients, on a copy, than the output was without; or None."""
    before = twins.generators()
    with torch.inference_mode(False), torch.enable_grad():
        other = module(*arguments, **options)
    if not twins.identical(before, twins.generators()) or not differ(output, other, rounding):
        return None
    return culprit_of(module, arguments, options)


def rounding(tensor):
    """What is below this is rounding of one kernel or the other; what is above may be, and is looked at again."""
    return 16 * torch.finfo(tensor.dtype).eps


def culprit_of(module, arguments, options):
    """The name of the innermost module that computes something else without gradients, or None."""
    with torch.inference_mode(False):
        doubled(module)
        arguments, options = in_double(arguments), in_double(options)
    before = torch.get_rng_state()
    given = twins.copied(module, arguments, options)[1:]
    once, parts = traced(module, arguments, options, False)
    again, _ = traced(module, arguments, options, False)
    if not twins.identical(once, again) or not twins.identical((arguments, options), given):
        return None
    with Asked() as asked:
        other, others = traced(module, arguments, options, True)
    if asked.by_program or not torch.equal(before, torch.get_rng_state()) or not differ(once, other):
        return None
    for part, (inputs, outputs) in parts.items():
        if part in others and not differ(inputs, others[part][0]) and differ(outputs, others[part][1]):
            return name_of(part)
    return name_of(module)


def doubled(module):
    module.double()
    for part in module.modules():
        if isinstance(part, torch.nn.TransformerEncoder):
            part.enable_nested_tensor = part.use_nested_tensor = False


def in_double(value):
    if isinstance(value, torch.Tensor):
        return value.double() if value.is_floating_point() else value
    if isinstance(value, dict):
        return {key: in_double(each) for key, each in value.items()}
    return type(value)(in_double(each) for each in value) if type(value) in (list, tuple) else value


def traced(module, arguments, options, grad):
    """The output of a call, and what each module inside of it was given and gave first, the innermost ones first."""
    parts = {}

    def note(part, inputs, output):
        parts.setdefault(part, (inputs, output))

    # Hooks of the modules themselves would keep them from taking their fast paths.
    handle = register_module_forward_hook(note)
    try:
        with torch.inference_mode(False), torch.set_grad_enabled(grad):
            return module(*arguments, **options), parts
    finally:
        handle.remove()


def differ(left, right, tolerance=lambda tensor: TOLERANCE):
    """Whether floating-point outputs of the same shapes differ by more than the tolerance."""
    left, right = twins.leaves(left), twins.leaves(right)
    if [each.shape for each in left] != [each.shape for each in right]:
        return False
    pairs = [pair for pair in zip(left, right) if pair[0].is_floating_point()]  # noqa: B905
    return any(_distance(*pair) > tolerance(pair[0]) for pair in pairs)


def _distance(left, right):
    both = (left != 0) & (right != 0)
    return twins.difference(left[both], right[both])


def name_of(module):
    kind = type(module)
    return f"torch.nn.{kind.__name__}" if kind.__module__.startswith("torch.nn.") else "torch.nn.Module.__call__"


class Asked:
    """Notes whether code outside of torch asks for the mode of gradients."""

    def __enter__(self):
        self.bare, self.by_program = torch.is_grad_enabled, False
        torch.is_grad_enabled = self.ask
        return self

    def ask(self):
        self.by_program = self.by_program or not sys._getframe(1).f_code.co_filename.startswith(TORCH)
        return self.bare()

    def __exit__(self, *error):
        torch.is_grad_enabled = self.bare
