"""Outcomes: records of checks -> one row a program and rule of a detector."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluation.catalog.declared import DeclaredPrograms
from evaluation.catalog.frozen import Frozen
from evaluation.model import Alarm, Rule
from evaluation.records import CheckRecord, FaultSite
from evaluation.scoring.marks import is_known, is_oracle, rule_since, twin_of
from runner.errors import ResultsError

if TYPE_CHECKING:
    import pandas as pd

NEAR_LINES = 5
# Why a program that was shown has no answer.
FAILURES = ("unsupported", "tool_error", "timeout", "peeked", "disturbed")
NOTHING_DECLARED = DeclaredPrograms()
# What identifies a row of scores.
ROW = ["detector", "references", "rule"]
# What identifies a program; its fixed twin has the same values.
PROGRAM = ["bug", "case", "seed"]
# Columns of outcomes that hold whole numbers, or nothing.
INTEGERS = ("first", "delay", "claimed_delay", "invariants_checked", "invariants_violated")


def outcomes(
    records: Iterable[CheckRecord],
    rules: Mapping[str, Mapping[str, Rule]],
    frozen: Mapping[str, Frozen] | None = None,
    declared: DeclaredPrograms = NOTHING_DECLARED,
) -> "pd.DataFrame":
    """A row for each check and rule: did it alarm, when, and how well does the alarm that decides
    name the fault: the first one, or the k-th, where a rule asks for k.

    `delay` counts iterations from the trigger, as the launcher stamped the alarm in the process of
    the monitor. `claimed_delay` is the same, as the detector says. Both are empty where nothing was
    detected, and for detectors without iterations. `early` means before the trigger of the case, on
    its buggy program or on the fixed one.

    Raises ResultsError if records of published programs and of rewritten programs are mixed: no
    rate covers both.
    """
    import pandas as pd

    records = list(records)
    _check_kinds(records)
    rows = []
    for record in records:
        for name, rule in _find_rules(record, rules).items():
            rows.append(_outcome(record, name, rule, frozen or {}, declared))
    table = pd.DataFrame(rows)
    return table.astype(dict.fromkeys(INTEGERS, "Int64")) if rows else table


def _check_kinds(records: Iterable[CheckRecord]) -> None:
    """Raise ResultsError unless all records are of one kind of programs."""
    kinds = sorted({record.rewriting for record in records})
    if len(kinds) > 1:
        raise ResultsError(
            f"there are records of {' and '.join(kinds)} programs, which are not counted together: "
            "name a results folder of one kind"
        )


def _find_rules(record: CheckRecord, rules: Mapping[str, Mapping[str, Rule]]) -> Mapping[str, Rule]:
    if record.detector not in rules:
        raise ResultsError(
            f"there is no detector.json of {record.detector!r} beside its records; evaluate it anew"
        )
    return rules[record.detector]


def _outcome(
    record: CheckRecord,
    name: str,
    rule: Rule,
    frozen: Mapping[str, Frozen],
    declared: DeclaredPrograms,
) -> dict[str, Any]:
    counted: Sequence[Alarm] = ()
    if record.status == "ok":
        counted = rule.counted(record.alarms)
    deciding = rule.deciding(counted)
    invariants = record.invariants
    return {
        "detector": record.detector,
        "version": record.version,
        "references": record.references,
        "rule": name,
        "kind": record.kind,
        "bug": record.bug,
        "family": declared.family(record.bug),
        "case": record.case,
        "seed": record.seed,
        "program": record.program,
        "benign": record.benign,
        "twin": twin_of(record, declared),
        "known": is_known(record, frozen, name),
        "oracle": is_oracle(record),
        "rule_since": rule_since(record, rule),
        "status": record.status,
        "reason": record.reason,
        "alarmed": bool(counted),
        "alarms": sum(alarm.times for alarm in counted),
        "first": deciding.iteration if deciding else None,
        **_detection(record, deciding),
        "invariants_checked": invariants.checked if invariants else None,
        "invariants_violated": invariants.violated if invariants else None,
        "prepare_s": record.seconds.prepare,
        "check_s": record.seconds.check,
    }


def _detection(record: CheckRecord, deciding: Alarm | None) -> dict[str, Any]:
    """When the alarm that decides came on a buggy program, and what it names. A fixed program has
    `early` alone; other records have empty cells.
    """
    if deciding is None or record.kind not in ("buggy", "fixed"):
        return {"delay": None, "claimed_delay": None, "early": False, "diagnosis": None}
    delay = _delay(deciding.seen, record)
    claimed_delay = _delay(deciding.iteration, record)
    best_delay = claimed_delay if delay is None else delay
    is_buggy = record.kind == "buggy"
    return {
        "delay": delay if is_buggy else None,
        "claimed_delay": claimed_delay if is_buggy else None,
        "early": best_delay is not None and best_delay < 0,
        "diagnosis": diagnosis(deciding, record.site) if is_buggy else None,
    }


def _delay(iteration: int | None, record: CheckRecord) -> int | None:
    """The iterations from the trigger to an alarm."""
    return None if iteration is None else iteration - record.trigger


def label(row: Any) -> str:
    """The name of a row: detector, kind of references and rule,
    the last two only where they say something.

    `oracle` stands for references that came with the text of the fixed twin, `post hoc` for a rule
    that is newer than the records.
    """
    detector, references, rule = row["detector"], row["references"], row["rule"]
    if row["oracle"]:
        references = "oracle"
    parts = [part for part in (references, rule) if part not in ("none", "default")]
    if row["rule_since"] == "post hoc":
        parts.append("post hoc")
    return f"{detector} ({', '.join(parts)})" if parts else str(detector)


def diagnosis(alarm: Alarm, site: FaultSite) -> str:
    """Whether an alarm names the site of the fault: `exact` for its API or line,
    `near` for close ones.
    """
    distance = _distance(alarm, site)
    if alarm.api == site.api or distance == 0:
        return "exact"
    is_close = distance is not None and distance <= NEAR_LINES
    alarm_name = (alarm.api or "").rpartition(".")[2]
    site_name = site.api.rpartition(".")[2]
    return "near" if is_close or alarm_name == site_name else "no"


def _distance(alarm: Alarm, site: FaultSite) -> int | None:
    """The lines between an alarm and the site; None where they are not in one file,
    or have no lines.
    """
    if alarm.file != site.file or alarm.line is None or site.line is None:
        return None
    return abs(alarm.line - site.line)


def since(rules: Iterable[Any]) -> str | None:
    """Whether the rule of a row was declared before its records; *post hoc*,
    if it came after some of them.
    """
    marks: list[str | None] = list(rules)
    return "post hoc" if "post hoc" in marks else marks[0]


def with_twins(table: "pd.DataFrame") -> "pd.DataFrame":
    """The buggy programs of outcomes, with the columns `hit`, `paired` and `paired_upstream`.

    A hit is an alarm that does not come before the trigger. A hit is paired if the detector ran on
    the twin and was silent there. `status_upstream` is empty where there is no such program. The
    columns of a twin end in its kind: `early_fixed`.
    """
    buggy = table[table.kind == "buggy"]
    buggy = buggy.assign(hit=buggy.alarmed & ~buggy.early)
    names = [*ROW, *PROGRAM]
    for kind, paired in (("fixed", "paired"), ("upstream", "paired_upstream")):
        twins = table.loc[table.kind == kind, [*names, "status", "alarmed", "early"]]
        buggy = buggy.merge(twins, on=names, how="left", suffixes=("", f"_{kind}"))
        ran = buggy[f"status_{kind}"] == "ok"
        accused = buggy[f"alarmed_{kind}"].fillna(True).astype(bool)
        buggy[paired] = buggy.hit & (ran & ~accused)
    return buggy
