"""Scores of detectors: records of checks -> one row a (detector, references, rule), by pandas.

Every formula is in docs/detectors.md, section "Scores".
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from evaluation.catalog.declared import DeclaredPrograms
from evaluation.catalog.frozen import Frozen
from evaluation.model import CONTROL, DIAGNOSES, Alarm, Rule
from evaluation.records import CheckRecord, FaultSite, OverheadRecord
from evaluation.scoring.chosen import mark_chosen
from evaluation.scoring.families import families
from evaluation.scoring.intervals import clustered
from evaluation.scoring.marks import is_known, is_oracle, rule_since, twin_of
from runner.bugs.catalogue_version import CATALOGUE_VERSION
from runner.errors import ResultsError

if TYPE_CHECKING:
    import pandas as pd

NEAR_LINES = 5
# Why a program that was shown has no answer.
FAILURES = ("unsupported", "tool_error", "timeout", "peeked", "disturbed")
# Columns by the kind of fix of the twin: as it was released, as it was proposed, or a work-around.
TWINS = {"released": "released", "proposed": "proposed", "workaround": "work-around"}
NOTHING_DECLARED = DeclaredPrograms()
# What identifies a row of scores.
ROW = ["detector", "references", "rule"]
# What identifies a program; its fixed twin has the same values.
PROGRAM = ["bug", "case", "seed"]
# Columns of outcomes that hold whole numbers, or nothing.
INTEGERS = ("first", "delay", "claimed_delay", "invariants_checked", "invariants_violated")
# Columns of outcomes that no score counts.
UNCOUNTED = ("program", "reason", "alarms", "first")


def outcomes(
    records: Iterable[CheckRecord],
    rules: Mapping[str, Mapping[str, Rule]],
    frozen: Mapping[str, Frozen] | None = None,
    declared: DeclaredPrograms = NOTHING_DECLARED,
) -> "pd.DataFrame":
    """A row for each check and rule: did it alarm, when,
    and how well does its first alarm name the fault.

    `delay` counts iterations from the trigger, as the launcher stamped the alarm in the process of
    the monitor. `claimed_delay` is the same, as the detector says. Both are empty where nothing was
    detected, and for detectors without iterations. `early` means before the trigger.

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
        "first": counted[0].iteration if counted else None,
        **_detection(record, counted),
        "invariants_checked": invariants.checked if invariants else None,
        "invariants_violated": invariants.violated if invariants else None,
        "prepare_s": record.seconds.prepare,
        "check_s": record.seconds.check,
    }


def _detection(record: CheckRecord, counted: Sequence[Alarm]) -> dict[str, Any]:
    """When the first alarm on a buggy program came, and what it names;
    empty cells for other records.
    """
    if not counted or record.kind != "buggy":
        return {"delay": None, "claimed_delay": None, "early": False, "diagnosis": None}
    first = counted[0]
    delay = _delay(first.seen, record)
    claimed_delay = _delay(first.iteration, record)
    best_delay = claimed_delay if delay is None else delay
    return {
        "delay": delay,
        "claimed_delay": claimed_delay,
        "early": best_delay is not None and best_delay < 0,
        "diagnosis": diagnosis(first, record.site),
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


def scores(
    table: "pd.DataFrame",
    overheads: Sequence[OverheadRecord] = (),
    whole: "pd.DataFrame | None" = None,
) -> "pd.DataFrame":
    """One row for each detector, kind of references and rule;
    benign cases have columns of their own.

    If `table` is a part of other outcomes, pass them as `whole`: rules are chosen by the whole.
    """
    import pandas as pd

    if table.empty:
        return pd.DataFrame()
    # Rows are taken out a hundred times below, and every column that comes along costs time.
    uncounted = [name for name in UNCOUNTED if name in table]
    table = table.drop(columns=uncounted)
    texts = [name for name in table if pd.api.types.is_string_dtype(table[name])]
    table = table.astype(dict.fromkeys(texts, object))
    rows = []
    for key, group in table.groupby(ROW, sort=True):
        names: dict[str, Any] = dict(zip(ROW, key, strict=True))
        timed = _timed(overheads, names["detector"], names["references"])
        rows.append(names | _score(group) | _overhead(timed))
    scored = pd.DataFrame(rows)
    if whole is None:
        return scored.assign(chosen=mark_chosen(scored))
    marks = scores(whole)[[*ROW, "chosen"]]
    return scored.merge(marks, on=ROW, how="left", validate="one_to_one")


def _timed(
    overheads: Sequence[OverheadRecord], detector: str, references: str
) -> list[OverheadRecord]:
    """The timings of a detector with one kind of references."""
    detector_overheads = [overhead for overhead in overheads if overhead.detector == detector]
    return [overhead for overhead in detector_overheads if overhead.references == references]


def _score(group: "pd.DataFrame") -> dict[str, Any]:
    buggy = with_twins(group)
    harmful, benign = buggy[~buggy.benign], buggy[buggy.benign]
    detected = harmful[harmful.hit]
    return {
        "version": group.version.iloc[0],
        "catalogue": CATALOGUE_VERSION,
        "oracle": bool(group.oracle.any()),
        "rule_since": since(group.rule_since),
        **_rate("detected", harmful, "hit"),
        **_rate("paired", harmful, "paired"),
        "bugs": int(harmful.bug.nunique()),
        "families": int(harmful.family.nunique()),
        "early": int((harmful.alarmed & harmful.early).sum()),
        "ran": int((harmful.status == "ok").sum()),
        **_false_alarms(group),
        **_by_twin(harmful),
        **_by_familiarity(group, harmful),
        "invariant_rate": _invariant_rate(group),
        **_delays(detected, "delay"),
        **_delays(detected, "claimed_delay"),
        **_count_values("diagnosis_", detected.diagnosis, DIAGNOSES),
        "benign_detected": int(benign.hit.sum()),
        "benign_paired": int(benign.paired.sum()),
        "benign_n": len(benign),
        **_count_values("", group.status, FAILURES),
        "prepare_s": _mean(group.prepare_s),
        "check_s": _mean(group[group.status == "ok"].check_s),
    }


def _by_familiarity(group: "pd.DataFrame", harmful: "pd.DataFrame") -> dict[str, Any]:
    """PAIRED and false alarms on fixed programs, for known bugs and for new bugs."""
    ran_fixed = group[(group.kind == "fixed") & (group.status == "ok")]
    return {
        **_rate("paired_known", harmful[harmful.known == True], "paired"),  # noqa: E712
        **_rate("paired_new", harmful[harmful.known == False], "paired"),  # noqa: E712
        **_rate("false_known", ran_fixed[ran_fixed.known == True], "alarmed"),  # noqa: E712
        **_rate("false_new", ran_fixed[ran_fixed.known == False], "alarmed"),  # noqa: E712
    }


def _invariant_rate(group: "pd.DataFrame") -> float | None:
    """The mean share of violated invariants on programs that are right."""
    checked = group[(group.kind != "buggy") & (group.invariants_checked > 0)]
    return _mean(checked.invariants_violated / checked.invariants_checked)


def _count_values(prefix: str, values: "pd.Series[Any]", names: Sequence[str]) -> dict[str, int]:
    """How often every name is among the values."""
    counts = {}
    for name in names:
        counts[f"{prefix}{name}"] = int((values == name).sum())
    return counts


def since(rules: "pd.Series[Any]") -> str | None:
    """Whether the rule of a row was declared before its records; *post hoc*,
    if it came after some of them.
    """
    return "post hoc" if (rules == "post hoc").any() else rules.iloc[0]


def with_twins(group: "pd.DataFrame") -> "pd.DataFrame":
    """The buggy programs of a row, with the columns `hit`, `paired` and `paired_upstream`.

    A hit is an alarm that does not come before the trigger. A hit is paired if the detector ran on
    the twin and was silent there. `status_upstream` is empty where there is no such program.
    """
    buggy = group[group.kind == "buggy"]
    buggy = buggy.assign(hit=buggy.alarmed & ~buggy.early)
    for kind, paired in (("fixed", "paired"), ("upstream", "paired_upstream")):
        twins = group[group.kind == kind]
        twins = twins[[*PROGRAM, "status", "alarmed"]]
        buggy = buggy.merge(twins, on=PROGRAM, how="left", suffixes=("", f"_{kind}"))
        ran = buggy[f"status_{kind}"] == "ok"
        accused = buggy[f"alarmed_{kind}"].fillna(True).astype(bool)
        buggy[paired] = buggy.hit & (ran & ~accused)
    return buggy


def _false_alarms(group: "pd.DataFrame") -> dict[str, Any]:
    """Alarms on programs that are right: fixed twins by kind, mended releases, controls."""
    ran = group[group.status == "ok"]
    fixed = ran[ran.kind == "fixed"]
    parts = {
        "fixed": fixed,
        "controls": ran[ran.kind == CONTROL],
        "upstream": ran[ran.kind == "upstream"],
    }
    parts |= {name: fixed[fixed.twin == twin] for name, twin in TWINS.items()}
    rates: dict[str, Any] = {}
    for name, part in parts.items():
        rates |= _rate(f"false_{name}", part, "alarmed")
    return rates


def _by_twin(buggy: "pd.DataFrame") -> dict[str, Any]:
    """PAIRED, by the kind of twin on which it was silent."""
    rates: dict[str, Any] = {}
    for name, twin in TWINS.items():
        rates |= _rate(f"paired_{name}", buggy[buggy.twin == twin], "paired")
    with_upstream = buggy[buggy.status_upstream.notna()]
    return rates | _rate("paired_upstream", with_upstream, "paired_upstream")


def _rate(name: str, programs: "pd.DataFrame", hits: str) -> dict[str, Any]:
    """How many of the programs are hits, with an interval that is clustered by family.

    `{name}_by_family` is the mean of the families' rates: each family weighs the same.
    """
    clusters: dict[str, list[bool]] = {}
    for family, hit in zip(families(programs), programs[hits], strict=True):
        clusters.setdefault(family, []).append(bool(hit))
    ordered = [clusters[name] for name in sorted(clusters)]
    counts = [sum(cluster) for cluster in ordered]
    sizes = [len(cluster) for cluster in ordered]
    low, high = clustered(counts, sizes)
    count, n = sum(counts), len(programs)
    rates = [count / size for count, size in zip(counts, sizes, strict=True)]
    return {
        name: count,
        f"{name}_n": n,
        f"{name}_rate": count / n if n else None,
        f"{name}_low": low,
        f"{name}_high": high,
        f"{name}_by_family": sum(rates) / len(rates) if rates else None,
    }


def _delays(detected: "pd.DataFrame", name: str) -> dict[str, Any]:
    delays = detected[name].dropna()
    if delays.empty:
        return {f"{name}_median": None, f"{name}_max": None}
    return {f"{name}_median": float(delays.median()), f"{name}_max": int(delays.max())}


def _overhead(records: Sequence[OverheadRecord]) -> dict[str, Any]:
    """Watched seconds over bare seconds: of the whole check,
    and of the training as the monitor claims.
    """
    measured = []
    for record in records:
        if record.watched_wall and record.bare_wall:
            measured.append(_ratio(record.watched_wall, record.bare_wall))
    claimed = [_ratio(record.watched, record.bare) for record in records]
    programs = [f"{record.bug}/{record.case}" for record in records]
    return {
        "overhead": median(measured) if measured else None,
        "claimed_overhead": median(claimed) if claimed else None,
        "overhead_of": records[0].of if records else None,
        "overhead_on": ", ".join(programs) or None,
    }


def _ratio(watched: Sequence[float], bare: Sequence[float]) -> float:
    return median(watched) / median(bare)


def _mean(values: "pd.Series[float]") -> float | None:
    numbers = values.dropna()
    return None if numbers.empty else float(numbers.mean())
