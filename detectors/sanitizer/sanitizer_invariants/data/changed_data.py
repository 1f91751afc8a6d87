"""Data stay what they are."""

import torch
from torch.utils.data import Subset

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant

EPOCHS, ITEMS, SHARE = 3, 32, 0.9


class ChangedData(Invariant):
    """Training does not write into the numbers that a dataset holds.

    Why: an augmentation or a normalisation that writes in place (`image -= mean`, `x.clamp_(0, 1)`)
    writes to what the dataset keeps, if its items are no copies. In the next epoch the same is done
    to the result.

    Of arrays and tensors of floating point that are attributes of a dataset, have an item for each
    sample, and are such as the loader gives first in its batches. Of 32 items nine tenths have
    changed between the beginnings of two epochs, two times in a row, and the array is still the
    same one.

    Excepted: what is replaced as a whole; what changes in some items alone, as memories do; targets
    and other parts of a batch, which may be estimates that are made better.

    Cost: a copy of some numbers of 32 items for each of the first three epochs of a loader.
    """

    NAME = "changed-data"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.arrays, self.shapes = IdentityTable(), IdentityTable()

    def after_batch(self, loader, batch):
        if loader is not None and loader not in self.shapes:
            tensors = copies.list_tensors(batch)
            self.shapes[loader] = tuple(tensors[0].shape[1:]) if tensors else None

    def before_epoch(self, loader):
        root = find_root(loader)
        before = self.arrays.get(loader, {})
        if root is None or before is None:
            return
        shape = self.shapes.get(loader)
        now = {
            name: Items(array, before.get(name))
            for name, array in list_arrays(root)
            if shape is None or tuple(array.shape[1:]) == shape
        }
        is_over = any(items.epochs > EPOCHS for items in now.values())
        self.arrays[loader] = None if is_over else now
        for name, items in now.items():
            if items.changes == EPOCHS - 1:
                self.report(
                    f"the items of `{name}` in {type(root).__name__} were changed in place in two "
                    "epochs: what prepares them writes to the data themselves",
                    api="torch.utils.data.Dataset",
                )


class Items:
    """Some items of an array, and in how many epochs in a row most of them have changed."""

    def __init__(self, array, before):
        self.identity, self.numbers = id(array), take_numbers(array)
        self.epochs = before.epochs + 1 if before else 1
        is_same = before is not None and before.identity == self.identity
        is_same = is_same and before.numbers.shape == self.numbers.shape
        has_changed = is_same and find_changed(before.numbers, self.numbers) >= SHARE
        self.changes = before.changes + 1 if has_changed else 0


def find_root(loader):
    """The dataset whose items a loader gives; None where it has no length."""
    dataset = loader.dataset
    while isinstance(dataset, Subset):
        dataset = dataset.dataset
    try:
        len(dataset)
    except Exception:
        return None
    return dataset if hasattr(dataset, "__dict__") else None


def list_arrays(dataset):
    """The arrays and tensors of a dataset that have an item for each sample, with their names."""
    arrays = []
    for name, value in vars(dataset).items():
        values = value if isinstance(value, tuple) else (value,)
        for array in values:
            is_array = hasattr(array, "dtype") and len(getattr(array, "shape", ())) > 1
            is_whole = is_array and len(array) == len(dataset) > 0
            if is_whole and "float" in str(array.dtype):
                arrays.append((name, array))
                break
    return arrays


def find_changed(before, now):
    """The share of items that are not what they were."""
    is_same = (before == now) | ((before != before) & (now != now))
    return float((~is_same).any(1).double().mean())


def take_numbers(array):
    """Some numbers of items that are spread over an array."""
    size = len(array)
    places = sorted({place * size // ITEMS for place in range(ITEMS)})
    items = [torch.as_tensor(array[place]).detach().flatten()[:256] for place in places]
    return torch.stack(items).to("cpu", torch.float64, copy=True)
