"""Evaluation gives the same numbers with gradients and without."""

import sys
from pathlib import Path

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, is_sampled
from sanitizer_invariants.tools.tracing import describe_module, trace_call

TORCH = str(Path(torch.__file__).parent)
# Half of the digits of a double: kernels that sum up in different orders agree in more of them by
# far.
TOLERANCE = 1e-8


class EvaluationDependsOnGrad(Invariant):
    """A module in evaluation mode that is called without gradients gives what it gives with them.

    Why: whether gradients are wanted is no part of what a network computes. It only decides which
    kernel does so.

    Excepted: modules that draw random numbers, change their arguments or do not repeat themselves;
    those whose own code asks `torch.is_grad_enabled()`; outputs of other shapes; numbers that are
    zero or not finite in one of the two, as masked ones are; the nested tensors of
    `nn.TransformerEncoder`, whose padding comes out as something else by design. Rounding: what
    differs by more than a few units is computed again in double precision, where both agree up to
    half of the digits.

    Cost: a call of a deep copy, for the first five calls of a module and then for each 200th; three
    more, in double precision, where the first one differs.
    """

    NAME, LIGHT = "evaluation-depends-on-grad", False
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.twin = IdentityTable(), None

    def before_forward(self, module, arguments, options):
        self.twin = None
        if torch.is_grad_enabled() or not copies.is_evaluating(copies.unwrap(module)):
            return
        module = copies.unwrap(module)
        self.calls[module] = self.calls.get(module, 0) + 1
        if is_sampled(self.calls[module], 200) and any(
            parameter.requires_grad for parameter in module.parameters()
        ):
            self.twin = copies.duplicate_all(module, arguments, options)

    def after_forward(self, module, arguments, options, output):
        twin, self.twin = self.twin, None
        culprit = twin and copies.attempt(self.program, look, output, *twin)
        if culprit:
            self.report(
                f"in evaluation mode the module {culprit} gives other numbers without gradients "
                "than with them",
                api=culprit,
            )


def look(output, module, arguments, options):
    """The name of what computes something else with gradients, on a copy,
    than the output was without; or None.
    """
    before = copies.generator_states()
    with torch.inference_mode(False), torch.enable_grad():
        other = module(*arguments, **options)
    if not copies.are_identical(before, copies.generator_states()) or not differ(
        output, other, rounding
    ):
        return None
    return culprit_of(module, arguments, options)


def rounding(tensor):
    """What is below this is rounding of one kernel or the other; what is above may be,
    and is looked at again.
    """
    return 16 * torch.finfo(tensor.dtype).eps


def culprit_of(module, arguments, options):
    """The name of the innermost module that computes something else without gradients, or None."""
    with torch.inference_mode(False):
        make_double(module)
        arguments, options = in_double(arguments), in_double(options)
    before = torch.get_rng_state()
    originals = copies.duplicate_all(module, arguments, options)[1:]
    once, parts = trace_call(module, arguments, options, False)
    again, _ = trace_call(module, arguments, options, False)
    if not copies.are_identical(once, again) or not copies.are_identical(
        (arguments, options), originals
    ):
        return None
    with QuestionRecorder() as questions:
        other, parts_with_gradients = trace_call(module, arguments, options, True)
    if (
        questions.by_program
        or not torch.equal(before, torch.get_rng_state())
        or not differ(once, other)
    ):
        return None
    for part, (inputs, outputs) in parts.items():
        if (
            part in parts_with_gradients
            and not differ(inputs, parts_with_gradients[part][0])
            and differ(outputs, parts_with_gradients[part][1])
        ):
            return describe_module(part)
    return describe_module(module)


def make_double(module):
    module.double()
    for part in module.modules():
        if isinstance(part, torch.nn.TransformerEncoder):
            part.enable_nested_tensor = part.use_nested_tensor = False


def in_double(value):
    if isinstance(value, torch.Tensor):
        return value.double() if value.is_floating_point() else value
    if isinstance(value, dict):
        return {key: in_double(item) for key, item in value.items()}
    return type(value)(in_double(item) for item in value) if type(value) in (list, tuple) else value


def differ(first, second, tolerance=lambda tensor: TOLERANCE):
    """Whether floating-point outputs of the same shapes differ by more than the tolerance."""
    first, second = copies.list_tensors(first), copies.list_tensors(second)
    if [leaf.shape for leaf in first] != [leaf.shape for leaf in second]:
        return False
    pairs = [pair for pair in zip(first, second) if pair[0].is_floating_point()]  # noqa: B905
    return any(_distance(*pair) > tolerance(pair[0]) for pair in pairs)


def _distance(first, second):
    both = (first != 0) & (second != 0)
    return copies.relative_difference(first[both], second[both])


class QuestionRecorder:
    """Notes whether code outside of torch asks for the mode of gradients."""

    def __enter__(self):
        self.unwrap, self.by_program = torch.is_grad_enabled, False
        torch.is_grad_enabled = self.ask
        return self

    def ask(self):
        self.by_program = self.by_program or not sys._getframe(1).f_code.co_filename.startswith(
            TORCH
        )
        return self.unwrap()

    def __exit__(self, *error):
        torch.is_grad_enabled = self.unwrap
