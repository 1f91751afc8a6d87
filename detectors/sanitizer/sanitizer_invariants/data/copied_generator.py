"""Workers draw random numbers of their own."""

import random
import sys

import torch
from torch.utils.data import IterableDataset

from sanitizer_invariants.tools.datasets import CALLED, datasets, find_definitions, list_names_in
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant

CALLS = (*CALLED, "__call__", "forward")
# By these names code knows of workers, or seeds anew.
KNOWING = {
    "get_worker_info", "manual_seed", "seed", "setstate", "set_state", "default_rng", "spawn",
    "RandomState", "Random", "jumped",
}  # fmt: skip
# Of nested transforms.
DEPTH, ITEMS = 4, 100


class CopiedGenerator(Invariant):
    """A dataset that workers have copies of draws by no generator of its own.

    Why: each worker gets a copy of the generator in the same state. All workers draw the same
    numbers, and, where they are made anew for each epoch, each epoch draws what the one before
    drew: an augmentation that was to be random is not. What torch, NumPy and `random` draw by
    themselves is seeded for each worker; a generator is not.

    Generators are `torch.Generator`, `random.Random` and NumPy's, in an attribute of the dataset,
    of those that it wraps, or of their transforms, or in a variable of their module, which the code
    that makes samples uses.

    With several workers in the first epoch, with one that is made anew in the second. Excepted:
    streams; loaders with a `worker_init_fn`; code that asks for the worker, or seeds anew.

    Cost: a look at the attributes and the code of a dataset, twice for each loader with workers.
    """

    NAME = "copied-generator"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.epochs = IdentityTable()

    def before_epoch(self, loader):
        if not loader.num_workers or loader.worker_init_fn is not None:
            return
        # A stream begins anew in each epoch; `same-batches` looks at its workers.
        if isinstance(loader.dataset, IterableDataset):
            return
        self.epochs[loader] = self.epochs.get(loader, 0) + 1
        is_one = loader.num_workers == 1
        if is_one and loader.persistent_workers:
            return
        if self.epochs[loader] != (2 if is_one else 1):
            return
        for holder, name, kind in find_generators(loader.dataset):
            what = "each epoch draws the same numbers" if is_one else "all draw the same numbers"
            self.report(
                f"{holder}.{name} is a generator ({kind}) of which each worker gets a copy: {what}",
                api="torch.utils.data.DataLoader",
            )
            return


def find_generators(dataset):
    """Holder, name and class of the generators that samples are made with."""
    holders = list_holders(dataset)
    definitions = find_definitions([type(holder) for holder in holders], CALLS)
    used = set()
    for definition in definitions:
        used |= list_names_in(definition.__code__)
    if used & KNOWING:
        return []
    places = [(type(holder).__name__, getattr(holder, "__dict__", {})) for holder in holders]
    places += [(definition.__module__, definition.__globals__) for definition in definitions]
    return [
        (place, name, type(values[name]).__name__)
        for place, values in places
        for name in sorted(used & set(values))
        if is_generator(values[name])
    ]


def list_holders(dataset):
    """A dataset, those that it wraps, and the objects that these call, as transforms."""
    holders = datasets(dataset)
    level = list(holders)
    for _ in range(DEPTH):
        inner = [value for holder in level for value in list_callables(holder)]
        level = [value for value in inner if not is_among(value, holders)]
        holders += level[:ITEMS]
    return holders


def is_among(value, values):
    """Whether a value is one of others, whatever its class says of equality."""
    return any(value is other for other in values)


def list_callables(holder):
    """The objects in the attributes of an object, or in lists there, that can be called."""
    values = []
    for value in list(getattr(holder, "__dict__", {}).values())[:ITEMS]:
        values += value[:ITEMS] if isinstance(value, (list, tuple)) else [value]
    return [value for value in values if callable(value) and hasattr(value, "__dict__")]


def is_generator(value):
    numpy = sys.modules.get("numpy")
    kinds = [random.Random, torch.Generator]
    if numpy is not None:
        kinds += [numpy.random.Generator, numpy.random.RandomState]
    # The generators of the modules themselves are seeded for each worker.
    is_global = value is torch.default_generator
    return isinstance(value, tuple(kinds)) and not is_global
