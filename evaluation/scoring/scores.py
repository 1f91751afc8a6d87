"""Scores of detectors: records of checks -> one row a (detector, references, rule), by pandas.

Every formula is in docs/detectors.md, section "Scores".
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from evaluation.catalog.frozen import Frozen
from evaluation.model import CONTROL, DIAGNOSES, Alarm, Rule
from evaluation.records import CheckRecord, OverheadRecord, Site
from evaluation.scoring.chosen import mark_chosen
from evaluation.scoring.families import families
from evaluation.scoring.intervals import clustered
from evaluation.scoring.marks import is_known, is_oracle, rule_since, twin_of
from runner.errors import ResultsError

if TYPE_CHECKING:
    import pandas as pd

NEAR_LINES = 5
# Why a program that was shown has no answer.
FAILURES = ("unsupported", "tool_error", "timeout", "peeked", "disturbed")
# The kinds of fixed twins: the fault itself mended, or something else done in the release that has the fault.
TWINS = {"real_fix": "real fix", "workaround": "work-around"}
# The detector, with whose references, by which rule.
ROW = ["detector", "references", "rule"]
# One program; its fixed twin has the same.
PROGRAM = ["bug", "case", "seed"]
# Columns of outcomes that no score counts.
UNCOUNTED = ("program", "reason", "alarms", "first")


def outcomes(
    records: Iterable[CheckRecord],
    rules: Mapping[str, Mapping[str, Rule]],
    frozen: Mapping[str, Frozen] | None = None,
) -> "pd.DataFrame":
    """A row for each check and rule: whether it alarmed, when, and how well its first alarm names the fault.

    `delay` is in iterations from the trigger, as the launcher stamped the alarm in the process of the monitor,
    `claimed_delay` the same as the detector says; empty where nothing was found, or by a detector without iterations.
    `early`: before the trigger.

    Raises ResultsError for records of programs as published among those of rewritten ones: no rate is of both.
    """
    import pandas as pd

    records = list(records)
    kinds = sorted({record.rewriting for record in records})
    if len(kinds) > 1:
        raise ResultsError(
            f"there are records of {' and '.join(kinds)} programs, which are not counted together: "
            "name a results folder of one kind"
        )
    rows = []
    for record in records:
        for name, rule in _find_rules(record, rules).items():
            rows.append(_outcome(record, name, rule, frozen or {}))
    table = pd.DataFrame(rows)
    integers = ("first", "delay", "claimed_delay", "invariants_checked", "invariants_violated")
    for name in integers if rows else ():
        table[name] = table[name].astype("Int64")
    return table


def _find_rules(record: CheckRecord, rules: Mapping[str, Mapping[str, Rule]]) -> Mapping[str, Rule]:
    if record.detector not in rules:
        raise ResultsError(
            f"there is no detector.json of {record.detector!r} beside its records; evaluate it anew"
        )
    return rules[record.detector]


def _outcome(
    record: CheckRecord, name: str, rule: Rule, frozen: Mapping[str, Frozen]
) -> dict[str, Any]:
    counted = rule.counted(record.alarms) if record.status == "ok" else ()
    is_detection = counted and record.kind == "buggy"
    first = counted[0] if is_detection else None
    delay = _delay(first.seen, record) if first else None
    claimed_delay = _delay(first.iteration, record) if first else None
    best_delay = claimed_delay if delay is None else delay
    invariants = record.invariants
    return {
        "detector": record.detector,
        "version": record.version,
        "references": record.references,
        "rule": name,
        "kind": record.kind,
        "bug": record.bug,
        "case": record.case,
        "seed": record.seed,
        "program": record.program,
        "benign": record.benign,
        "twin": twin_of(record),
        "known": is_known(record, frozen, name),
        "oracle": is_oracle(record),
        "rule_since": rule_since(record, rule),
        "status": record.status,
        "reason": record.reason,
        "alarmed": bool(counted),
        "alarms": sum(alarm.times for alarm in counted),
        "first": counted[0].iteration if counted else None,
        "delay": delay,
        "claimed_delay": claimed_delay,
        "early": best_delay is not None and best_delay < 0,
        "diagnosis": diagnosis(first, record.site) if first else None,
        "invariants_checked": invariants.checked if invariants else None,
        "invariants_violated": invariants.violated if invariants else None,
        "prepare_s": record.seconds.prepare,
        "check_s": record.seconds.check,
    }


def _delay(iteration: int | None, record: CheckRecord) -> int | None:
    """The iterations from the trigger to an alarm."""
    return None if iteration is None else iteration - record.trigger


def label(row: Any) -> str:
    """The name of a row: detector, kind of references and rule, the last two only where they say something.

    `oracle` stands for references that came with the text of the fixed twin, `post hoc` for a rule that is newer than
    the records.
    """
    references = "oracle" if row["oracle"] else row["references"]
    parts = [part for part in (references, row["rule"]) if part not in ("none", "default")]
    if row["rule_since"] == "post hoc":
        parts.append("post hoc")
    return f"{row['detector']} ({', '.join(parts)})" if parts else str(row["detector"])


def diagnosis(alarm: Alarm, site: Site) -> str:
    """Whether an alarm names the fault's site: its API or its line (exact), a line or a name close to it (near)."""
    same_file = alarm.file == site.file and alarm.line is not None and site.line is not None
    if alarm.api == site.api or (same_file and alarm.line == site.line):
        return "exact"
    is_close = same_file and abs((alarm.line or 0) - (site.line or 0)) <= NEAR_LINES
    has_same_name = (alarm.api or "").split(".")[-1] == site.api.split(".")[-1]
    return "near" if is_close or has_same_name else "no"


def scores(
    table: "pd.DataFrame",
    overheads: Sequence[OverheadRecord] = (),
    whole: "pd.DataFrame | None" = None,
) -> "pd.DataFrame":
    """One row for each detector, kind of references and rule. Benign cases are counted in columns of their own.

    Where the outcomes in `table` are a part of others, rules are chosen by these, the `whole`.
    """
    import pandas as pd

    if table.empty:
        return pd.DataFrame()
    # Rows are taken out a hundred times below, and each column that comes along costs time.
    table = table.drop(columns=[name for name in UNCOUNTED if name in table])
    texts = [name for name in table if pd.api.types.is_string_dtype(table[name])]
    table = table.astype(dict.fromkeys(texts, object))
    rows = []
    for key, group in table.groupby(ROW, sort=True):
        detector, references, _ = key
        timed = [
            overhead
            for overhead in overheads
            if overhead.detector == detector and overhead.references == references
        ]
        rows.append(dict(zip(ROW, key, strict=True)) | _score(group) | _overhead(timed))
    scored = pd.DataFrame(rows)
    if whole is None:
        return scored.assign(chosen=mark_chosen(scored))
    return scored.merge(scores(whole)[[*ROW, "chosen"]], on=ROW, how="left", validate="one_to_one")


def _score(group: "pd.DataFrame") -> dict[str, Any]:
    buggy = with_twins(group)
    harmful, benign = buggy[~buggy.benign], buggy[buggy.benign]
    clean = group[(group.kind != "buggy") & (group.invariants_checked > 0)]
    detected = harmful[harmful.hit]
    known_bugs = harmful[harmful.known == True]  # noqa: E712
    new_bugs = harmful[harmful.known == False]  # noqa: E712
    diagnoses = {f"diagnosis_{name}": int((detected.diagnosis == name).sum()) for name in DIAGNOSES}
    return {
        "version": group.version.iloc[0],
        "oracle": bool(group.oracle.any()),
        "rule_since": since(group.rule_since),
        **_rate("detected", harmful, "hit"),
        **_rate("paired", harmful, "paired"),
        "bugs": int(harmful.bug.nunique()),
        "early": int((harmful.alarmed & harmful.early).sum()),
        "ran": int((harmful.status == "ok").sum()),
        **_false_alarms(group),
        **_by_twin(harmful),
        **_rate("paired_known", known_bugs, "paired"),
        **_rate("paired_new", new_bugs, "paired"),
        **_rate("false_known", _accusable(group, True), "alarmed"),
        **_rate("false_new", _accusable(group, False), "alarmed"),
        "invariant_rate": _mean(clean.invariants_violated / clean.invariants_checked),
        **_delays(detected, "delay"),
        **_delays(detected, "claimed_delay"),
        **diagnoses,
        "benign_detected": int(benign.hit.sum()),
        "benign_paired": int(benign.paired.sum()),
        "benign_n": len(benign),
        **{name: int((group.status == name).sum()) for name in FAILURES},
        "prepare_s": _mean(group.prepare_s),
        "check_s": _mean(group[group.status == "ok"].check_s),
    }


def _accusable(group: "pd.DataFrame", known: bool) -> "pd.DataFrame":
    """The fixed programs of known bugs, or of others, on which it ran."""
    return group[(group.kind == "fixed") & (group.status == "ok") & (group.known == known)]


def since(rules: "pd.Series[Any]") -> str | None:
    """Whether the rule of a row was declared before its records; *post hoc*, if it came after some of them."""
    return "post hoc" if (rules == "post hoc").any() else rules.iloc[0]


def with_twins(group: "pd.DataFrame") -> "pd.DataFrame":
    """The buggy programs of a row, with `hit` (it alarmed, not before the trigger), `paired` and `paired_upstream`.

    Paired is a hit if it ran on that twin, and was silent there; `status_upstream` is empty where there is none.
    """
    buggy = group[group.kind == "buggy"]
    buggy = buggy.assign(hit=buggy.alarmed & ~buggy.early)
    for kind, paired in (("fixed", "paired"), ("upstream", "paired_upstream")):
        twins = group[group.kind == kind][[*PROGRAM, "status", "alarmed"]]
        buggy = buggy.merge(twins, on=PROGRAM, how="left", suffixes=("", f"_{kind}"))
        ran = buggy[f"status_{kind}"] == "ok"
        accused = buggy[f"alarmed_{kind}"].fillna(True).astype(bool)
        buggy[paired] = buggy.hit & (ran & ~accused)
    return buggy


def _false_alarms(group: "pd.DataFrame") -> dict[str, Any]:
    """Alarms on programs that are right: fixed twins by their kinds, the buggy script in a mended release, controls."""
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
    """How many of the programs are hits, with a clustered interval: the cases of a bug are not independent."""
    clusters: dict[str, list[bool]] = {}
    for family, hit in zip(families(programs), programs[hits], strict=True):
        clusters.setdefault(family, []).append(bool(hit))
    ordered = [clusters[name] for name in sorted(clusters)]
    counts = [sum(cluster) for cluster in ordered]
    sizes = [len(cluster) for cluster in ordered]
    low, high = clustered(counts, sizes)
    count, n = int(programs[hits].sum()), len(programs)
    return {
        name: count,
        f"{name}_n": n,
        f"{name}_rate": count / n if n else None,
        f"{name}_low": low,
        f"{name}_high": high,
    }


def _delays(detected: "pd.DataFrame", name: str) -> dict[str, Any]:
    delays = detected[name].dropna()
    if delays.empty:
        return {f"{name}_median": None, f"{name}_max": None}
    return {f"{name}_median": float(delays.median()), f"{name}_max": int(delays.max())}


def _overhead(records: Sequence[OverheadRecord]) -> dict[str, Any]:
    """Watched over bare: seconds of the whole check by the benchmark's clock, and those of the training as claimed."""
    measured = [
        _ratio(record.watched_wall, record.bare_wall)
        for record in records
        if record.watched_wall and record.bare_wall
    ]
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
    known_values = values.dropna()
    return None if known_values.empty else float(known_values.mean())
