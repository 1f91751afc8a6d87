"""A metric of small integers is the metric of these numbers."""

import torch

from sanitizer_invariants.tools import copies, isolation
from sanitizer_invariants.tools.metrics import (
    MetricRule,
    describe_api,
    describe_first,
    list_differences,
)

# Squares or products of numbers up to this may leave the type.
LARGEST = {torch.uint8: 15, torch.int8: 11, torch.int16: 181}
# What such numbers are divided by, where their type says what they stand for.
SCALES = (255.0, 256.0, 127.5, 127.0, 128.0, 32767.0, 32768.0)


class MetricTypes(MetricRule):
    """A metric of bytes or short integers gives what it gives for the same numbers in 64 bits.

    Why: a type is how numbers are stored. Differences, squares and products of bytes overflow
    without a word: 3 - 5 is 254, and 16 * 16 is 0.

    Of `update` with integers of 8 or 16 bits, some of which are so large that their squares leave
    the type. Copies of the metric from before the first update get the same numbers as they are, as
    int64 and as float64. The values in the wide types agree, as far as they are accepted, and the
    first one differs by more than 1e-4.

    Excepted: metrics for which bytes stand for shares (the value is the one of the numbers divided
    by the largest one of their type); what draws random numbers, holds a network, or whose code
    names something of the program that can change.

    Cost: of a class at most four times six short evaluations.
    """

    NAME = "metric-types"

    def before_update(self, metric, updates, arguments, options):
        call = isolation.duplicate((arguments, options)) if can_overflow(arguments, options) else 0
        if not call:
            return
        self.begin_trial(metric)
        narrow = self.evaluate(updates.copy, "reset", call)
        wide = self.find_wide(updates.copy, call)
        if narrow is None or wide is None or not any(list_differences(narrow, wide)):
            return
        for scale in SCALES:
            scaled = self.evaluate(updates.copy, "reset", widen(call, torch.float32, scale))
            is_share = bool(scaled) and not any(list_differences(narrow, scaled))
            if is_share:
                return
        kind = next(tensor.dtype for tensor in list_narrow(call))
        self.report(
            f"{type(metric).__name__} gives {describe_first(narrow)} for {kind}, and "
            f"{describe_first(wide)} for the same numbers in 64 bits: it computes in a type that "
            "overflows",
            api=describe_api(metric, "update"),
        )

    def find_wide(self, metric, call):
        """What a metric gives for the same numbers in 64 bits; None where that is not one value."""
        whole = self.evaluate(metric, "reset", widen(call, torch.int64))
        real = self.evaluate(metric, "reset", widen(call, torch.float64))
        if whole and real and any(list_differences(whole, real)):
            return None
        return whole or real


def can_overflow(arguments, options):
    narrow = list_narrow((arguments, options))
    return any(int(tensor.max()) > LARGEST[tensor.dtype] for tensor in narrow)


def list_narrow(call):
    tensors = copies.list_tensors(call)
    return [tensor for tensor in tensors if tensor.dtype in LARGEST and tensor.numel()]


def widen(call, dtype, scale=None):
    """An update with its small integers in another type."""
    if isinstance(call, torch.Tensor):
        is_narrow = call.dtype in LARGEST
        wide = call.to(dtype) if is_narrow else call
        return wide / scale if scale and is_narrow else wide
    if isinstance(call, dict):
        return {name: widen(value, dtype, scale) for name, value in call.items()}
    if type(call) in (list, tuple):
        return type(call)(widen(value, dtype, scale) for value in call)
    return call
