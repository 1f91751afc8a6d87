"""Records of checks and overheads."""

from msgspec.structs import replace

from evaluation.model import Alarm
from evaluation.records import CheckRecord, FaultSite, OverheadRecord, Seconds
from runner.results.runtime_identity import RuntimeIdentity

SITE = FaultSite("program.py", 40, "torch.optim.Optimizer.zero_grad")

HIT = Alarm("c", "m", "error", 7, "program.py", 40)


RUNTIME = RuntimeIdentity(
    environment="e", pinned=True, torch="2.2.2", device="cpu", machine="m", threads=2
)


def record(kind="buggy", case="one", alarms=(), status="ok", **changes):
    """The record of a check; changes are its own fields, or those of its runtime."""
    check = CheckRecord(
        schema=1, key="k", detector="d", version="1", references="none", kind=kind,
        bug="control" if kind == "control" else "B", case=case, seed=0, benign=False, trigger=5, site=SITE,
        runtime=RUNTIME, status=status, reason=None,
        alarms=tuple(alarms), dropped=0, invariants=None, seconds=Seconds(None, 1.0, None), started="s", revision=None,
    )  # fmt: skip
    return with_changes(check, **changes)


def with_changes(check, **changes):
    """The record with other values of its fields, or of those of its runtime."""
    in_runtime = {
        name: value for name, value in changes.items() if name in RuntimeIdentity.__struct_fields__
    }
    in_record = {name: value for name, value in changes.items() if name not in in_runtime}
    return replace(check, runtime=replace(check.runtime, **in_runtime), **in_record)


def overhead(bare, watched):
    return OverheadRecord(
        1, "k", "d", "1", "none", "B", "one", 0, "2.2.2", "cpu", "m", 2, "loop", bare, watched, "s"
    )
