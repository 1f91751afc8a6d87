"""An order that is drawn is the order of the data."""

import weakref

from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.samples import find_source

BATCHES, SAMPLES = 50, 20


class IdleShuffle(Invariant):
    """Two passes whose sampler draws other random orders have other batches.

    Why: an order is drawn to be used. A sampler that puts it into a set, sorts it, or goes on to
    use the list from before gives the same batches in each epoch: neighbours in the file stay
    together, whatever is drawn.

    Of samplers that torch has not written. In two passes in a row `torch.randperm` gave
    permutations of 20 numbers or more, and other ones in the second pass; the first batches, up to
    50 of them, have the same indices in the same order.

    Excepted: samplers that draw nothing, or by other functions; streams; passes of less than two
    batches.

    Cost: a hash of the indices of the first 50 batches of each pass.
    """

    NAME = "idle-shuffle"
    VERSION = 8

    def __init__(self, program, report):
        super().__init__(program, report)
        self.passes, self.before, self.told = weakref.WeakKeyDictionary(), {}, weakref.WeakSet()

    def after_indices(self, source, iterator, indices, orders):
        if source in self.told:
            return
        known = self.passes.setdefault(source, [None, None])
        current = known[1]
        if current is None or current.iterator() is not iterator:
            # A pass that came to its end has made room for the next one.
            known[:] = current or known[0], Pass(iterator)
            current = known[1]
        current.orders += [order for order in orders if order[0] >= SAMPLES]
        if len(current.batches) < BATCHES:
            current.batches.append(repr(indices))
        if len(current.batches) == BATCHES:
            self._compare(source, *known)

    def after_next(self, iterator, is_over, is_loop):
        source = find_source(iterator)
        known = self.passes.get(source) if is_over and source is not None else None
        if known is None or known[1] is None or known[1].iterator() is not iterator:
            return
        self._compare(source, *known)
        known[:] = known[1], None

    def _compare(self, source, before, now):
        if before is None or source in self.told or len(now.batches) < 2:
            return
        is_drawn = before.orders and now.orders and before.orders != now.orders
        if is_drawn and before.batches[: len(now.batches)] == now.batches:
            self.told.add(source)
            kind = type(source)
            self.report(
                f"{kind.__name__} has drawn another random order than in the pass before, and "
                "gives the same batches: the order is lost",
                api=f"{kind.__module__}.{kind.__name__}",
            )


class Pass:
    """The orders that were drawn in a pass, and its first batches."""

    def __init__(self, iterator):
        self.iterator, self.orders, self.batches = weakref.ref(iterator), [], []
