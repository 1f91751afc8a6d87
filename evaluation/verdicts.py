"""What did a detector answer? Reads verdict.json; what is not a verdict becomes a tool_error with the reason."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluation.detectors import SCHEMA
from evaluation.model import Alarm, Invariants, Training, Verdict
from runner.catalog import check_schema
from runner.errors import CatalogError

MAX_BYTES = 16_000_000
# What is kept of a detector that raises an alarm at every opportunity, of each code; the rest is counted.
MAX_ALARMS = 100


def read_verdict(path: Path) -> Verdict:
    """The verdict in a file that a detector wrote; never raises."""
    try:
        if path.stat().st_size > MAX_BYTES:
            return Verdict("tool_error", f"{path.name} is larger than {MAX_BYTES} bytes")
        found = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
        check_schema(found, Path(path.name), SCHEMA, "verdict")
    except FileNotFoundError:
        return Verdict("tool_error", f"the detector wrote no {path.name}")
    except (OSError, ValueError, RecursionError) as error:
        return Verdict("tool_error", f"{path.name} is not JSON: {error}"[:500])
    except CatalogError as error:
        return Verdict("tool_error", str(error)[:500])
    return _verdict(found)


def thin(alarms: Sequence[Alarm]) -> tuple[tuple[Alarm, ...], int]:
    """The first MAX_ALARMS alarms of each code and severity, and how many others there were."""
    seen: Counter[tuple[str, str]] = Counter()
    kept = []
    for alarm in alarms:
        seen[alarm.code, alarm.severity] += 1
        if seen[alarm.code, alarm.severity] <= MAX_ALARMS:
            kept.append(alarm)
    return tuple(kept), len(alarms) - len(kept)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _verdict(found: Any) -> Verdict:
    if found["status"] != "ok":
        # A tool that failed has no alarms: what it said on its way down is no detection.
        return Verdict(found["status"], found.get("reason") or "no reason given")
    alarms, dropped = thin([Alarm(**alarm) for alarm in found.get("alarms", [])])
    training, invariants = found.get("training"), found.get("invariants")
    return Verdict(
        status="ok",
        alarms=alarms,
        dropped=found.get("dropped", 0) + dropped,
        training=Training(**training) if training else None,
        invariants=Invariants(**invariants) if invariants else None,
        artefacts=tuple(found.get("artefacts", ())),
    )
