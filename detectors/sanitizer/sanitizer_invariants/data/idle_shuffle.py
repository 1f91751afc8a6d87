"""An order that is drawn is the order of the data."""

import array
import hashlib
import weakref

import torch

from sanitizer_invariants.tools.hooks import NUMBERS, describe_order
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.samples import find_source

PASSES, SHARE = 3, 0.9


class IdleShuffle(Invariant):
    """Passes whose sampler draws other random orders have other batches.

    Why: an order is drawn to be used. A sampler that puts it into a set, sorts it, or goes on to
    use the list from before gives the same batches in each epoch: neighbours in the file stay
    together, whatever is drawn.

    Of samplers that torch has not written. In three whole passes in a row that something was learnt
    in, `torch.randperm` gave permutations of 20 numbers or more, each time other ones; all batches
    have the same indices in the same order. That is an error where it is the order of the file, or
    the one that was drawn first; else advice, since samples may be sorted by what they are, as in a
    curriculum from short to long.

    Excepted: samplers that draw nothing, or by other functions; streams; passes of one batch;
    evaluations, which may be of some samples at random, in their order. A sampler that draws
    partners for samples of a fixed order is accused.

    Cost: a hash of the indices of each batch.
    """

    NAME = "idle-shuffle"
    VERSION = 8

    def __init__(self, program, report):
        super().__init__(program, report)
        self.passes, self.current = IdentityTable(), IdentityTable()
        self.iterator = None

    def before_backward(self, tensors):
        iterator = self.iterator and self.iterator()
        source = find_source(iterator) if iterator is not None else None
        current = self.current.get(source) if source is not None else None
        if current is not None and current.iterator() is iterator:
            current.is_learnt = True

    def after_indices(self, source, iterator, indices, order):
        current = self.current.get(source)
        if current is None or current.iterator() is not iterator:
            current = self.current[source] = Pass(iterator)
        current.note(indices, order)

    def after_next(self, iterator, is_over, is_loop):
        # Looked at once for each batch: a reference costs less than the look-up of a source.
        self.iterator = None if is_over else weakref.ref(iterator)
        source = find_source(iterator) if is_over else None
        current = self.current.pop(source, None) if source is not None else None
        if current is None or current.iterator() is not iterator or current.batches < 2:
            return
        passes = self.passes.setdefault(source, [])
        if not (passes and current.repeats(passes[-1])):
            passes.clear()
        if len(passes) == PASSES:
            return
        passes.append(current)
        if len(passes) == PASSES:
            kind = type(source)
            is_plain = current.is_in_file_order() or passes[0].has_its_order()
            self.report(
                f"{kind.__name__} has drawn another random order in each of {PASSES} passes, and "
                "gives the same batches: the order is lost",
                api=f"{kind.__module__}.{kind.__name__}",
                severity="error" if is_plain else "info",
            )


class Pass:
    """What there is of a pass without end is a hash of the orders that were drawn, and one of the
    batches.
    """

    def __init__(self, iterator):
        self.iterator, self.orders = weakref.ref(iterator), hashlib.sha256()
        self.batches, self.digest = 0, hashlib.sha256()
        self.is_drawn, self.is_known, self.is_learnt = False, True, False
        # The first indices, how many there are, and how many are larger than the one before.
        self.first, self.last, self.count, self.rises = [], -1, 0, 0

    def note(self, indices, order):
        """Note the indices of a batch, and what was drawn for it."""
        self.batches += 1
        if order is not None:
            self.is_drawn = True
            self.orders.update(order)
        numbers = list_numbers(indices)
        self.is_known = self.is_known and numbers is not None
        self.digest.update(repr(numbers).encode())
        if numbers is indices and type(numbers) is list:
            self._count(numbers)

    def _count(self, numbers):
        self.first += numbers[: NUMBERS - len(self.first)]
        for number in numbers:
            self.rises += number > self.last
            self.last = number
        self.count += len(numbers)

    def is_in_file_order(self):
        """Whether nearly all samples come behind those that stand before them in the file."""
        return self.rises >= SHARE * self.count > 0

    def has_its_order(self):
        """Whether the samples come as the one permutation says that was drawn."""
        order = describe_order(self.count, array.array("q", self.first).tobytes())
        return self.orders.digest() == hashlib.sha256(hashlib.sha256(order).digest()).digest()

    def repeats(self, other):
        """Whether the batches are the same, although other orders were drawn."""
        is_drawn = self.is_drawn and other.is_drawn and self.is_known and self.is_learnt
        is_other = is_drawn and self.orders.digest() != other.orders.digest()
        return is_other and self.digest.digest() == other.digest.digest()


def list_numbers(indices):
    """The indices of a batch, or one of them, as numbers; None where they are objects of the
    program's, whose text may say anything.
    """
    kind = type(indices)
    if kind in (list, tuple):
        if all(type(index) is int for index in indices):
            return indices
        numbers = [list_numbers(index) for index in indices]
        return None if any(number is None for number in numbers) else numbers
    if kind in (int, str):
        return indices
    is_tensor = kind is torch.Tensor and indices.device.type == "cpu"
    is_array = kind.__module__ == "numpy" and indices.dtype.kind in "iu"
    return indices.tolist() if is_tensor or is_array else None
