"""Scores of detectors: records of checks -> one row a (detector, references, rule), by pandas.

Every formula is in docs/detectors.md, section "Scores".
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.model import CONTROL, Alarm, Rule
from evaluation.records import CheckRecord, OverheadRecord, Site
from runner.errors import ResultsError

if TYPE_CHECKING:
    import pandas as pd

NEAR_LINES = 5
# The detector, with whose references, by which rule.
ROW = ["detector", "references", "rule"]
# One program; its fixed twin has the same.
PROGRAM = ["bug", "case", "seed"]


def outcomes(records: Iterable[CheckRecord], rules: Mapping[str, Mapping[str, Rule]]) -> "pd.DataFrame":
    """A row for each check and rule: whether it alarmed, when, and how well its first alarm names the fault.

    `delay` is in iterations from the trigger; empty where nothing was found, or by a detector without iterations.
    """
    import pandas as pd

    rows = [_outcome(record, *item) for record in records for item in _rules_of(record, rules)]
    table = pd.DataFrame(rows)
    for name in ("first", "delay", "invariants_checked", "invariants_violated") if rows else ():
        table[name] = table[name].astype("Int64")
    return table


def _rules_of(record: CheckRecord, rules: Mapping[str, Mapping[str, Rule]]) -> Iterable[tuple[str, Rule]]:
    if record.detector not in rules:
        raise ResultsError(f"there is no detector.json of {record.detector!r} beside its records; evaluate it anew")
    return rules[record.detector].items()


def _outcome(record: CheckRecord, name: str, rule: Rule) -> dict[str, Any]:
    counted = rule.counted(record.alarms) if record.status == "ok" else ()
    first = counted[0].iteration if counted else None
    return {
        "detector": record.detector,
        "version": record.version,
        "references": record.references,
        "rule": name,
        "kind": record.kind,
        "bug": record.bug,
        "case": record.case,
        "seed": record.seed,
        "benign": record.benign,
        "status": record.status,
        "reason": record.reason,
        "alarmed": bool(counted),
        "alarms": len(counted),
        "first": first,
        "delay": None if first is None or record.kind != "buggy" else first - record.trigger,
        "diagnosis": diagnosis(counted[0], record.site) if counted and record.kind == "buggy" else None,
        "invariants_checked": record.invariants.checked if record.invariants else None,
        "invariants_violated": record.invariants.violated if record.invariants else None,
        "prepare_s": record.seconds.prepare,
        "check_s": record.seconds.check,
    }


def label(row: Any) -> str:
    """The name of a row: detector, kind of references and rule, the last two only where they say something."""
    parts = [part for part in (row["references"], row["rule"]) if part not in ("none", "default")]
    return f"{row['detector']} ({', '.join(parts)})" if parts else str(row["detector"])


def diagnosis(alarm: Alarm, site: Site) -> str:
    """Whether an alarm names the fault's site: its API or its line (exact), a line or a name close to it (near)."""
    same_file = alarm.file == site.file and alarm.line is not None and site.line is not None
    if alarm.api == site.api or (same_file and alarm.line == site.line):
        return "exact"
    close = same_file and abs((alarm.line or 0) - (site.line or 0)) <= NEAR_LINES
    return "near" if close or (alarm.api or "").split(".")[-1] == site.api.split(".")[-1] else "no"


def scores(table: "pd.DataFrame", overheads: Sequence[OverheadRecord] = ()) -> "pd.DataFrame":
    """One row for each detector, kind of references and rule. Benign cases are counted in columns of their own."""
    import pandas as pd

    rows = []
    for key, group in table.groupby(ROW, sort=True):
        detector, references, rule = key
        overhead = [each for each in overheads if (each.detector, each.references) == (detector, references)]
        rows.append(dict(zip(ROW, key, strict=True)) | _score(group) | _overhead(overhead))
    return pd.DataFrame(rows)


def _score(group: "pd.DataFrame") -> dict[str, Any]:
    buggy = group[group.kind == "buggy"].merge(
        group[group.kind == "fixed"][[*PROGRAM, "status", "alarmed"]], on=PROGRAM, how="left", suffixes=("", "_fixed")
    )
    buggy["paired"] = buggy.alarmed & (buggy.status_fixed == "ok") & ~buggy.alarmed_fixed.fillna(True).astype(bool)
    harmful, benign = buggy[~buggy.benign], buggy[buggy.benign]
    fixed, controls = (group[(group.kind == kind) & (group.status == "ok")] for kind in ("fixed", CONTROL))
    clean = group[(group.kind != "buggy") & (group.invariants_checked > 0)]
    detected = harmful[harmful.alarmed]
    return {
        "version": group.version.iloc[0],
        **_rate("detected", int(harmful.alarmed.sum()), len(harmful)),
        **_rate("paired", int(harmful.paired.sum()), len(harmful)),
        "ran": int((harmful.status == "ok").sum()),
        **_rate("false_fixed", int(fixed.alarmed.sum()), len(fixed)),
        **_rate("false_controls", int(controls.alarmed.sum()), len(controls)),
        "invariant_rate": _mean(clean.invariants_violated / clean.invariants_checked),
        "delay_median": None if detected.delay.dropna().empty else float(detected.delay.dropna().median()),
        "delay_max": None if detected.delay.dropna().empty else int(detected.delay.dropna().max()),
        **{f"diagnosis_{name}": int((detected.diagnosis == name).sum()) for name in ("exact", "near", "no")},
        "benign_detected": int(benign.alarmed.sum()),
        "benign_paired": int(benign.paired.sum()),
        "benign_n": len(benign),
        **{name: int((group.status == name).sum()) for name in ("unsupported", "tool_error", "timeout", "peeked")},
        "prepare_s": _mean(group.prepare_s),
        "check_s": _mean(group[group.status == "ok"].check_s),
    }


def _rate(name: str, count: int, n: int) -> dict[str, Any]:
    low, high = wilson(count, n)
    rate = count / n if n else None
    return {name: count, f"{name}_n": n, f"{name}_rate": rate, f"{name}_low": low, f"{name}_high": high}


def wilson(count: int, n: int, z: float = 1.959964) -> tuple[float | None, float | None]:
    """The 95 % interval of a proportion after Wilson (1927); None where nothing was counted."""
    if n == 0:
        return None, None
    share, spread = count / n, z * z / n
    centre = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / n + spread / (4 * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def _overhead(records: Sequence[OverheadRecord]) -> dict[str, Any]:
    from statistics import median

    ratios = [median(record.watched) / median(record.bare) for record in records]
    return {
        "overhead": median(ratios) if ratios else None,
        "overhead_of": records[0].of if records else None,
        "overhead_on": ", ".join(f"{record.bug}/{record.case}" for record in records) or None,
    }


def _mean(values: "pd.Series[float]") -> float | None:
    kept = values.dropna()
    return None if kept.empty else float(kept.mean())
