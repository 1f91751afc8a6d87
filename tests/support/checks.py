"""Records of checks and overheads."""

from msgspec.structs import replace

from evaluation.model import Alarm
from evaluation.records import CheckRecord, OverheadRecord, Seconds, Site

SITE = Site("program.py", 40, "torch.optim.Optimizer.zero_grad")

HIT = Alarm("c", "m", "error", 7, "program.py", 40)


def record(kind="buggy", case="one", alarms=(), status="ok", **changes):
    check = CheckRecord(
        schema=1, key="k", detector="d", version="1", references="none", kind=kind,
        bug="control" if kind == "control" else "B", case=case, seed=0, benign=False, trigger=5, site=SITE,
        environment="e", pinned=True, torch="2.2.2", device="cpu", machine="m", threads=2, status=status, reason=None,
        alarms=tuple(alarms), dropped=0, invariants=None, seconds=Seconds(None, 1.0, None), started="s", revision=None,
    )  # fmt: skip
    return replace(check, **changes)


def overhead(bare, watched):
    return OverheadRecord(
        1, "k", "d", "1", "none", "B", "one", 0, "2.2.2", "cpu", "m", 2, "loop", bare, watched, "s"
    )
