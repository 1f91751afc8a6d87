"""Workers of a DataLoader know what the dataset is told."""

from sanitizer_invariants.tools.datasets import datasets, find_used_names
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant

PLAIN = (bool, int, float, str)


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
        self.duplicate_all = IdentityTable()

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


def plain(dataset):
    return {
        name: value
        for name, value in getattr(dataset, "__dict__", {}).items()
        if type(value) in PLAIN
    }
