"""Workers of a DataLoader know what the dataset is told."""

import dis
import functools
import types
import weakref

from sanitizer_invariants.base import Invariant

PLAIN = (bool, int, float, str)
# What workers call.
CALLED = ("__getitem__", "__getitems__", "__iter__")


class StaleWorkers(Invariant):
    """A number of a dataset that its samples are made with does not change while persistent workers have copies of it.

    Why: each worker works on the copy that it was started with. `set_epoch` changes the dataset of the main process,
    which makes no samples: with `persistent_workers=True` each epoch draws what the first one drew.

    Its samples are made by `__getitem__`, `__getitems__`, `__iter__`, and by methods and properties of the dataset, or
    of those that it wraps, whose names these use. Excepted: numbers that none of them uses, or only those that set
    them; what is in shared memory.

    Cost: a comparison of the plain attributes of a dataset at the beginning of each epoch; a look at the code of its
    methods where one has changed.
    """

    NAME = "stale-workers"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.copied = weakref.WeakKeyDictionary()

    def before_epoch(self, loader):
        if not loader.num_workers or not loader.persistent_workers:
            return
        now = [(part, plain(part)) for part in datasets(loader.dataset)]
        before = self.copied.get(loader)
        if before is None or getattr(loader, "_iterator", None) is None:
            self.copied[loader] = [values for _, values in now]
            return
        for (part, values), old in zip(now, before):  # noqa: B905
            changed = [name for name, value in values.items() if name in old and old[name] != value]
            names = used([type(each) for each, _ in now]) if changed else ()
            for name in changed:
                if name in names:
                    self.report(
                        f"{type(part).__name__}.{name} was changed, and the persistent workers make samples with the "
                        "value that it had when they were started",
                        api="torch.utils.data.DataLoader",
                    )


def datasets(dataset):
    """A dataset and those that it wraps."""
    found = [dataset]
    for each in found:
        inner = getattr(each, "dataset", None)
        if inner is not None and all(inner is not one for one in found):
            found.append(inner)
    return found


def plain(dataset):
    return {name: value for name, value in getattr(dataset, "__dict__", {}).items() if type(value) in PLAIN}


def used(kinds):
    """The names that are used where samples are made, but not set there."""
    found, following = set(), list(CALLED)
    for name in following:
        for each in definitions(kinds, name):
            names = used_by(each.__code__)
            found |= names
            following += [each for each in sorted(names) if each not in following]
    return found


def definitions(kinds, name):
    """The functions of a name in some classes: methods, and what properties call."""
    members = [vars(base)[name] for kind in kinds for base in kind.__mro__ if name in vars(base)]
    return [each for each in map(function, members) if isinstance(each, types.FunctionType)]


def function(member):
    if isinstance(member, property):
        return member.fget
    return member.func if isinstance(member, functools.cached_property) else getattr(member, "__func__", member)


def used_by(code):
    """The names that code uses and does not set, that of comprehensions and functions inside of it included."""
    stored = {each.argval for each in dis.get_instructions(code) if each.opname == "STORE_ATTR"}
    inner = [used_by(each) for each in code.co_consts if isinstance(each, types.CodeType)]
    return set(code.co_names).union(*inner) - stored
