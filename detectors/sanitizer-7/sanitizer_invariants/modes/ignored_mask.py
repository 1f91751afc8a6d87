"""A mask that a network is given changes what it computes."""

import inspect

import torch

from sanitizer_invariants.tools import copies, side_effects
from sanitizer_invariants.tools.invariant import Invariant

WORDS = ("mask", "length", "padding")
TRIES = 3


class IgnoredMask(Invariant):
    """What is handed to a network as a mask, or as lengths, has an effect on its output.

    Why: who hands over which places count wants others left out. A `forward` that takes a mask and
    does not pass it on computes with padding, and nothing fails.

    By the name of the argument, which holds `mask`, `length` or `padding`. Of a network in training
    mode copies are called twice, by the same random numbers, the second time with the rows of the
    mask in another order. In three calls with masks whose rows differ all outputs stay the same to
    the last bit.

    Advice: a causal network that is padded behind needs no mask, and neither does one that takes it
    for the sake of a common interface.

    Excepted: masks whose rows are all alike, are one number each or a square; networks that cannot
    be copied or may keep something elsewhere.

    Cost: two calls of a copy for each of three calls with such an argument.
    """

    NAME, SEVERITY, LIGHT = "ignored-mask", "info", False
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.tries = {}

    def before_forward(self, module, arguments, options):
        module = copies.unwrap(module)
        if not module.training or not torch.is_grad_enabled():
            return
        named = name_arguments(module, arguments, options)
        for name, mask in named.items():
            key = type(module), name
            if self.tries.get(key, 0) is None or not is_mask(name, mask):
                continue
            if self._has_effect(module, arguments, options, name):
                self.tries[key] = None
                continue
            self.tries[key] = self.tries.get(key, 0) + 1
            if self.tries[key] == TRIES:
                self.tries[key] = None
                self.report(
                    f"{type(module).__name__} is given {name}, and gives the same, whichever row "
                    "of it belongs to which sample: nothing reads it",
                    api=f"{type(module).__name__}.forward",
                )

    def _has_effect(self, module, arguments, options, name):
        """Whether another mask gives another output, or that cannot be tried."""
        if side_effects.may_have_side_effects(module):
            return True
        twin = copies.duplicate_all(module, arguments, options)
        is_same = twin and copies.attempt(self.program, is_ignored, name, *twin)
        return not is_same


def name_arguments(module, arguments, options):
    """The arguments of a call by their names; those that are handed on as they were named."""
    try:
        bound = inspect.signature(module.forward).bind(*arguments, **options)
    except (TypeError, ValueError):
        return {}
    named = dict(bound.arguments)
    for parameter in bound.signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            named.update(named.pop(parameter.name, {}))
    return named


def is_mask(name, value):
    """Whether an argument is a mask whose rows differ."""
    if not any(word in name.lower() for word in WORDS):
        return False
    if type(value) is not torch.Tensor or value.dim() == 0 or len(value) < 2:
        return False
    # One number a sample says when episodes end; a square table is of places, not of samples.
    is_single = value.dtype in (torch.bool, torch.float32) and value.numel() == len(value)
    is_square = value.dim() == 2 and value.shape[0] == value.shape[1]
    return not (is_single or is_square or copies.are_identical(value, value.roll(1, 0)))


def is_ignored(name, module, arguments, options):
    """Whether outputs are the same with the rows of a mask in another order; False where they are
    not twice the same with the mask as it is.
    """
    outputs = []
    with torch.no_grad():
        mask = name_arguments(module, arguments, options)[name]
        for shift in (0, 0, 1):
            mask.copy_(mask.roll(shift, 0))
            torch.manual_seed(0)
            outputs.append(copies.list_tensors(module(*arguments, **options)))
    plain, again, other = outputs
    is_there = any(output.is_floating_point() for output in plain)
    return is_there and copies.are_identical(plain, again) and copies.are_identical(plain, other)
