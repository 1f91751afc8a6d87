"""An order that is drawn is the order of the data."""

import hashlib
import weakref

from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.samples import find_source

SAMPLES, PASSES = 20, 3


class IdleShuffle(Invariant):
    """Passes whose sampler draws other random orders have other batches.

    Why: an order is drawn to be used. A sampler that puts it into a set, sorts it, or goes on to
    use the list from before gives the same batches in each epoch: neighbours in the file stay
    together, whatever is drawn.

    Of samplers that torch has not written. In three whole passes in a row `torch.randperm` gave
    permutations of 20 numbers or more, each time other ones; all batches have the same indices in
    the same order.

    Excepted: samplers that draw nothing, or by other functions; streams; passes of one batch. A
    sampler that draws partners for samples of a fixed order is accused.

    Cost: a hash of the indices of each batch.
    """

    NAME = "idle-shuffle"
    VERSION = 8

    def __init__(self, program, report):
        super().__init__(program, report)
        self.passes, self.current = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()

    def after_indices(self, source, iterator, indices, orders):
        current = self.current.get(source)
        if current is None or current.iterator() is not iterator:
            current = self.current[source] = Pass(iterator)
        current.orders += [order for order in orders if order[0] >= SAMPLES]
        current.batches += 1
        current.digest.update(repr(indices).encode())

    def after_next(self, iterator, is_over, is_loop):
        source = find_source(iterator) if is_over else None
        current = self.current.pop(source, None) if source is not None else None
        if current is None or current.iterator() is not iterator or current.batches < 2:
            return
        before = self.passes.setdefault(source, [])
        if before and current.repeats(before[-1]):
            before.append(current)
        else:
            before[:] = [current]
        if len(before) == PASSES:
            kind = type(source)
            self.report(
                f"{kind.__name__} has drawn another random order in each of {PASSES} passes, and "
                "gives the same batches: the order is lost",
                api=f"{kind.__module__}.{kind.__name__}",
            )


class Pass:
    """The orders that were drawn in a pass, and its batches."""

    def __init__(self, iterator):
        self.iterator, self.orders = weakref.ref(iterator), []
        self.batches, self.digest = 0, hashlib.sha256()

    def repeats(self, other):
        """Whether the batches are the same, although other orders were drawn."""
        is_drawn = self.orders and other.orders and self.orders != other.orders
        return is_drawn and self.digest.digest() == other.digest.digest()
