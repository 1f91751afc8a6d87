"""Workers of a DataLoader know what the dataset is told."""

import dis
import functools
import types
import weakref

from sanitizer_invariants.tools.invariant import Invariant

PLAIN = (bool, int, float, str)
# What workers call.
CALLED = ("__getitem__", "__getitems__", "__iter__")


class StaleWorkers(Invariant):
    """A number of a dataset that its samples are made with does not change while persistent workers
    have copies of it.

    Why: each worker works on the copy that it was started with. `set_epoch` changes the dataset of
    the main process, which makes no samples: with `persistent_workers=True` each epoch draws what
    the first one drew.

    Its samples are made by `__getitem__`, `__getitems__`, `__iter__`, and by methods and properties
    of the dataset, or of those that it wraps, whose names these use. Excepted: numbers that none of
    them uses, or only those that set them; what is in shared memory.

    Cost: a comparison of the plain attributes of a dataset at the beginning of each epoch; a look
    at the code of its methods where one has changed.
    """

    NAME = "stale-workers"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.duplicate_all = weakref.WeakKeyDictionary()

    def before_epoch(self, loader):
        if not loader.num_workers or not loader.persistent_workers:
            return
        now = [(part, plain(part)) for part in datasets(loader.dataset)]
        before = self.duplicate_all.get(loader)
        if before is None or getattr(loader, "_iterator", None) is None:
            self.duplicate_all[loader] = [values for _, values in now]
            return
        for (part, values), old in zip(now, before):  # noqa: B905
            changed = [name for name, value in values.items() if name in old and old[name] != value]
            names = find_used_names([type(entry) for entry, _ in now]) if changed else ()
            for name in changed:
                if name in names:
                    self.report(
                        f"{type(part).__name__}.{name} was changed, and the persistent workers "
                        "make samples with the value that it had when they were started",
                        api="torch.utils.data.DataLoader",
                    )


def datasets(dataset):
    """A dataset and those that it wraps."""
    nested = [dataset]
    for value in nested:
        inner = getattr(value, "dataset", None)
        if inner is not None and all(inner is not dataset_now for dataset_now in nested):
            nested.append(inner)
    return nested


def plain(dataset):
    return {
        name: value
        for name, value in getattr(dataset, "__dict__", {}).items()
        if type(value) in PLAIN
    }


def find_used_names(kinds):
    """The names that are used where samples are made, but not set there."""
    attributes, following = set(), list(CALLED)
    for name in following:
        for definition in definitions(kinds, name):
            names = list_names_in(definition.__code__)
            attributes |= names
            following += [name for name in sorted(names) if name not in following]
    return attributes


def definitions(kinds, name):
    """The functions of a name in some classes: methods, and what properties call."""
    members = [vars(base)[name] for kind in kinds for base in kind.__mro__ if name in vars(base)]
    return [
        parameter
        for parameter in map(function, members)
        if isinstance(parameter, types.FunctionType)
    ]


def function(member):
    if isinstance(member, property):
        return member.fget
    return (
        member.func
        if isinstance(member, functools.cached_property)
        else getattr(member, "__func__", member)
    )


def list_names_in(code):
    """The names that code uses and does not set, that of comprehensions and functions inside of it
    included.
    """
    stored = {item.argval for item in dis.get_instructions(code) if item.opname == "STORE_ATTR"}
    inner = [list_names_in(item) for item in code.co_consts if isinstance(item, types.CodeType)]
    return set(code.co_names).union(*inner) - stored
