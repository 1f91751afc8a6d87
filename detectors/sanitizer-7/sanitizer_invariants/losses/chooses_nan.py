"""A choice is made among numbers."""

import linecache
import re

import torch

from sanitizer_invariants.optimizers.not_a_number import list_not_finite
from sanitizer_invariants.tools.invariant import Invariant, is_sampled

FIRST, EVERY, SEEN, CALLERS = 20, 100, 3, 20
# A line that uses the places of the largest numbers, and not the numbers alone.
PLACES = re.compile(r"\.indices\b|\)\[1\]|(?:^|;)\s*\w+, *(?!_\w* *=)\w+ *=[^=]")


class ChoosesNan(Invariant):
    """What is chosen by its number has one: `argmax`, `argmin`, `topk`, and the places of `max`
    and `min` along an axis, do not see NaN beside numbers.

    Why: NaN is neither larger nor smaller than a number. torch takes it for the largest one, and
    for the smallest one as well: the first NaN is chosen, whatever the others are. No error tells
    of it, and the result is an index like any other. A NaN comes out of 0 * inf, inf - inf, 0 / 0.

    Of three calls of one line, where some rows hold both NaN and numbers, infinite ones included.

    Excepted: rows of NaN alone; networks whose weights are not finite, which have diverged;
    functions that ask for NaN by a name (`isnan`, `nan_to_num`, `isfinite`); `max` and `min` of
    which the line uses the numbers alone; what a calling function chooses anew, without NaN.

    Cost: a look at the numbers of the first 20 calls of each line, then of each 100th.
    """

    NAME = "chooses-nan"
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        # By line: how often it was called, and has chosen among NaN; its last choice of that kind.
        self.counts, self.seen, self.waiting = {}, {}, {}
        self.replaced = set()

    def after_choice(self, name, tensor, dim, frame):
        place = frame.f_code.co_filename, frame.f_lineno
        count = self.counts[place] = self.counts.get(place, 0) + 1
        if self.waiting:
            self._settle(place, name, tensor, frame)
        if place in self.replaced or self.seen.get(place, 0) >= SEEN:
            return
        if not is_sampled(count, EVERY, FIRST):
            return
        mixed, rows = count_mixed(tensor, dim)
        if mixed and not asks_for_nan(frame.f_code) and uses_places(name, place):
            self.waiting[place] = Choice(name, tuple(tensor.shape), mixed, rows, frame)

    def _settle(self, place, name, tensor, frame):
        """A caller may have chosen anew, from as many numbers; else the choice has stood when its
        line is called again.
        """
        for other, choice in list(self.waiting.items()):
            is_anew = name == choice.name and tuple(tensor.shape) == choice.shape
            if is_anew and frame.f_code in choice.callers and not bool(tensor.isnan().any()):
                self.replaced.add(other)
                del self.waiting[other]
        choice = self.waiting.pop(place, None)
        if choice is None:
            return
        self.seen[place] = self.seen.get(place, 0) + 1
        if self.seen[place] == SEEN and not self._has_diverged():
            self.report(
                f"`{name}` chooses among numbers and NaN, in {choice.mixed} of {choice.rows} rows, "
                f"for the {SEEN}rd time: it takes the first NaN, whatever the numbers are",
                api=f"torch.{name}",
            )

    def _has_diverged(self):
        modules = self.program.modules()
        return any(list_not_finite(list(module.parameters())) for module in modules)


class Choice:
    """A choice among numbers and NaN, and the functions that have called for it."""

    def __init__(self, name, shape, mixed, rows, frame):
        self.name, self.shape, self.mixed, self.rows = name, shape, mixed, rows
        self.callers, caller = set(), frame.f_back
        while caller is not None and len(self.callers) < CALLERS:
            self.callers.add(caller.f_code)
            caller = caller.f_back
        self.callers.discard(frame.f_code)


def count_mixed(tensor, dim):
    """How many rows hold NaN and numbers, and how many rows there are."""
    if tensor.is_meta or tensor.layout != torch.strided or not tensor.numel():
        return 0, 0
    missing = tensor.detach().isnan()
    if not bool(missing.any()):
        return 0, 0
    if dim is None or not tensor.dim():
        missing, dim = missing.reshape(1, -1), 1
    mixed = missing.any(dim) & ~missing.all(dim)
    return int(mixed.sum()), mixed.numel()


def asks_for_nan(code):
    """Whether a function names anything that tells NaN from numbers."""
    return any("nan" in name.lower() or "finite" in name for name in code.co_names)


def uses_places(name, place):
    """Whether a choice is of places, as far as the text of its line tells."""
    if name not in ("max", "min"):
        return True
    return bool(PLACES.search(linecache.getline(*place)))
