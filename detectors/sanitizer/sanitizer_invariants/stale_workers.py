"""Workers of a DataLoader know what the dataset is told."""

import dis
import types
import weakref

from sanitizer_invariants.base import Invariant

PLAIN = (bool, int, float, str)


class StaleWorkers(Invariant):
    """A number of a dataset that its samples are made with does not change while persistent workers have copies of it.

    Why: each worker works on the copy that it was started with. `set_epoch` changes the dataset of the main process,
    which makes no samples: with `persistent_workers=True` each epoch draws what the first one drew.

    Excepted: numbers that no method uses but those that set them, `__init__` and `__len__`; what is in shared memory.

    Cost: a comparison of the plain attributes of a dataset at the beginning of each epoch.
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
            for name in changed:
                if name in used(type(part)):
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
    return {name: value for name, value in vars(dataset).items() if type(value) in PLAIN}


def used(kind):
    """The names that methods use which do not set them."""
    found = set()
    for base in kind.__mro__:
        for name, method in vars(base).items():
            if isinstance(method, types.FunctionType) and name not in ("__init__", "__len__"):
                found.update(set(method.__code__.co_names) - stored(method))
    return found


def stored(method):
    return {each.argval for each in dis.get_instructions(method) if each.opname == "STORE_ATTR"}
