"""An index that is kept to be ignored is handed on."""

import sys

import torch

from sanitizer_invariants.tools.identity import IdentitySet
from sanitizer_invariants.tools.invariant import Invariant, is_sampled

LOSSES, CALLS, DEPTH, OWN = ("cross_entropy", "nll_loss"), 3, 12, "sanitizer_invariants"


class IdleIgnoreIndex(Invariant):
    """The `ignore_index` that an object keeps is the one that its loss ignores.

    Why: a class that takes an `ignore_index` promises that targets of this number do not count.
    Where it forgets to hand the number on, the default of -100 is ignored, and padding is learnt.

    Of `cross_entropy` and `nll_loss`, called with gradients from a method of an object that has a
    whole number called `ignore_index`; the loss ignores another number, and
    some of the targets have the one that is kept. In three losses.

    Excepted: objects that hand the number on to another loss; what is reduced to no number, and
    weights of classes, which may leave it out as well.

    Cost: a look at the names of the functions that have called a loss, for the first five losses
    and then for each 100th.
    """

    NAME = "idle-ignore-index"
    VERSION = 7

    def __init__(self, program, report):
        super().__init__(program, report)
        self.losses, self.hits = 0, {}
        # Objects that have handed their index on to some loss.
        self.handing = IdentitySet()

    def after_loss(self, name, arguments, output):
        if name not in LOSSES or not output.requires_grad or arguments["reduction"] == "none":
            return
        target = arguments["target"]
        if arguments.get("weight") is not None or target.dtype != torch.long:
            return
        self.losses += 1
        if not is_sampled(self.losses, 100):
            return
        owner = find_owner(sys._getframe(1))
        if owner is None:
            return
        promised = owner.ignore_index
        if promised == arguments["ignore_index"]:
            self.handing.add(owner)
            return
        if owner in self.handing or not bool((target == promised).any()):
            return
        where = self.program.here()
        self.hits[where] = self.hits.get(where, 0) + 1
        if self.hits[where] == CALLS:
            self.report(
                f"{type(owner).__name__} has an ignore_index of {promised}, and its loss ignores "
                f"{arguments['ignore_index']}: targets of {promised} count",
                api=f"torch.nn.functional.{name}",
            )


def find_owner(frame):
    """The object whose method has called, and that has an `ignore_index`; None where there is
    none, or where the loss is a module with an index of its own.
    """
    for _ in range(DEPTH):
        frame = frame.f_back
        if frame is None:
            return None
        owner = frame.f_locals.get("self")
        if OWN in frame.f_code.co_filename or owner is None:
            continue
        index = getattr(owner, "ignore_index", None)
        if isinstance(index, int) and not isinstance(index, bool):
            return owner
    return None
