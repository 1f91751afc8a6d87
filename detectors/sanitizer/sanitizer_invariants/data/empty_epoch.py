"""A pass over the data gives data."""

import weakref

from torch.utils.data import BatchSampler

from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.samples import find_source


class EmptyEpoch(Invariant):
    """(info) A pass over a DataLoader gives batches, if an earlier one did, or if it has samples.

    Why: a loop without batches does nothing, and says nothing. The next epoch is printed like any
    other, and nothing was trained or evaluated in it. A stream that is used up, an iterator that is
    looped over twice, or a place in the data that was loaded at the end of an epoch gives no batch;
    neither does a loader that drops its last batch, if the first one is the last.

    A loop has come to the end of a loader without a batch. An earlier pass gave some; or its
    sampler counts some; or the loader has samples, and drops all of them by `drop_last`. After that
    a module is called, or a second pass gives nothing.

    Advice, since a stream may be read until it is empty, and a training be resumed at the end of an
    epoch. Excepted: passes that are followed by another one that gives batches before any module is
    called (what is left of an epoch may be nothing); iterators that are asked once more by `next`,
    and not by a loop.

    Cost: two numbers for each batch.
    """

    NAME, SEVERITY = "empty-epoch", "info"
    VERSION = 8

    def __init__(self, program, report):
        super().__init__(program, report)
        # By what gives the indices of a loader, which is the same in all of its passes.
        self.sources, self.pending = IdentityTable(), None

    def after_next(self, iterator, is_over, is_loop):
        source = find_source(iterator)
        if source is None:
            return
        known = self.sources.setdefault(source, Source())
        if not is_over:
            known.gave, known.empty, known.iterator = True, 0, weakref.ref(iterator)
            known.is_over = False
            if self.pending is not None and self.pending[0]() is source:
                self.pending = None
            return
        is_same = known.iterator is not None and known.iterator() is iterator
        was_over, known.is_over = known.is_over and is_same, True
        if is_same and not (was_over and is_loop):
            # A pass that gave batches has come to its end.
            return
        reason = "an earlier one gave some" if known.gave else find_reason(source)
        if reason is not None:
            known.empty += 1
            self.pending = weakref.ref(source), reason, self.program.here()
            if known.empty > 1:
                self._tell()

    def before_forward(self, module, arguments, options):
        if self.pending is not None:
            self._tell()

    def _tell(self):
        _, reason, where = self.pending
        self.pending = None
        self.report(
            f"this pass over a DataLoader gives no batch ({reason}): nothing is done in it",
            api="torch.utils.data.DataLoader",
            where=where,
        )


class Source:
    """What is known of the passes over a loader."""

    def __init__(self):
        self.gave, self.empty, self.iterator, self.is_over = False, 0, None, False


def find_reason(source):
    """Why a loader could have given a batch in its first pass; None where it could not."""
    try:
        if len(source) > 0:
            return f"its sampler counts {len(source)}"
        is_dropped = type(source) is BatchSampler and source.drop_last and len(source.sampler) > 0
    except Exception:
        # The program's own class may not know its length.
        return None
    return "`drop_last` drops the only one" if is_dropped else None
