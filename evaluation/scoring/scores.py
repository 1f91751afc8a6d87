"""Scores of detectors: records of checks -> one row a (detector, references, rule), by pandas.

Every formula is in docs/detectors.md, section "Scores".
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

from evaluation.catalog.frozen import Frozen
from evaluation.model import CONTROL, Alarm, Rule
from evaluation.records import CheckRecord, OverheadRecord, Site
from evaluation.scoring.chosen import chosen
from evaluation.scoring.intervals import clustered
from evaluation.scoring.marks import is_oracle, known, rule_since, twin_of
from runner.errors import ResultsError

if TYPE_CHECKING:
    import pandas as pd

NEAR_LINES = 5
# Why a program that was shown has no answer.
FAILURES = ("unsupported", "tool_error", "timeout", "peeked", "disturbed")
# What a fixed twin is: the fault itself mended, or something else done in the release that has the fault.
TWINS = {"real_fix": "real fix", "workaround": "work-around"}
# The detector, with whose references, by which rule.
ROW = ["detector", "references", "rule"]
# One program; its fixed twin has the same.
PROGRAM = ["bug", "case", "seed"]
# What an outcome tells and no score counts.
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
    if len(kinds := sorted({record.rewriting for record in records})) > 1:
        raise ResultsError(
            f"there are records of {' and '.join(kinds)} programs, which are not counted together: "
            "name a results folder of one kind"
        )
    rows = [
        _outcome(record, *item, frozen or {})
        for record in records
        for item in _rules_of(record, rules)
    ]
    table = pd.DataFrame(rows)
    integers = ("first", "delay", "claimed_delay", "invariants_checked", "invariants_violated")
    for name in integers if rows else ():
        table[name] = table[name].astype("Int64")
    return table


def _rules_of(
    record: CheckRecord, rules: Mapping[str, Mapping[str, Rule]]
) -> Iterable[tuple[str, Rule]]:
    if record.detector not in rules:
        raise ResultsError(
            f"there is no detector.json of {record.detector!r} beside its records; evaluate it anew"
        )
    return rules[record.detector].items()


def _outcome(
    record: CheckRecord, name: str, rule: Rule, frozen: Mapping[str, Frozen]
) -> dict[str, Any]:
    counted = rule.counted(record.alarms) if record.status == "ok" else ()
    first = counted[0] if counted and record.kind == "buggy" else None
    seen, claimed = (
        _since(each, record) for each in ((first.seen, first.iteration) if first else (None, None))
    )
    when = claimed if seen is None else seen
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
        "known": known(record, frozen, name),
        "oracle": is_oracle(record),
        "rule_since": rule_since(record, rule),
        "status": record.status,
        "reason": record.reason,
        "alarmed": bool(counted),
        "alarms": sum(each.times for each in counted),
        "first": counted[0].iteration if counted else None,
        "delay": seen,
        "claimed_delay": claimed,
        "early": when is not None and when < 0,
        "diagnosis": diagnosis(first, record.site) if first else None,
        "invariants_checked": record.invariants.checked if record.invariants else None,
        "invariants_violated": record.invariants.violated if record.invariants else None,
        "prepare_s": record.seconds.prepare,
        "check_s": record.seconds.check,
    }


def _since(iteration: int | None, record: CheckRecord) -> int | None:
    return None if iteration is None else iteration - record.trigger


def label(row: Any) -> str:
    """The name of a row: detector, kind of references and rule, the last two only where they say something.

    `oracle` stands for references that came with the text of the fixed twin, `post hoc` for a rule that is newer than
    the records.
    """
    references = "oracle" if row["oracle"] else row["references"]
    marks = ["post hoc"] if row["rule_since"] == "post hoc" else []
    parts = [part for part in (references, row["rule"]) if part not in ("none", "default")] + marks
    return f"{row['detector']} ({', '.join(parts)})" if parts else str(row["detector"])


def diagnosis(alarm: Alarm, site: Site) -> str:
    """Whether an alarm names the fault's site: its API or its line (exact), a line or a name close to it (near)."""
    same_file = alarm.file == site.file and alarm.line is not None and site.line is not None
    if alarm.api == site.api or (same_file and alarm.line == site.line):
        return "exact"
    close = same_file and abs((alarm.line or 0) - (site.line or 0)) <= NEAR_LINES
    return "near" if close or (alarm.api or "").split(".")[-1] == site.api.split(".")[-1] else "no"


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
        detector, references, rule = key
        overhead = [
            each for each in overheads if (each.detector, each.references) == (detector, references)
        ]
        rows.append(dict(zip(ROW, key, strict=True)) | _score(group) | _overhead(overhead))
    scored = pd.DataFrame(rows)
    if whole is None:
        return scored.assign(chosen=chosen(scored))
    return scored.merge(scores(whole)[[*ROW, "chosen"]], on=ROW, how="left", validate="one_to_one")


def _score(group: "pd.DataFrame") -> dict[str, Any]:
    buggy = with_twins(group)
    harmful, benign = buggy[~buggy.benign], buggy[buggy.benign]
    clean = group[(group.kind != "buggy") & (group.invariants_checked > 0)]
    detected = harmful[harmful.hit]
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
        **_rate("paired_known", harmful[harmful.known == True], "paired"),  # noqa: E712
        **_rate("paired_new", harmful[harmful.known == False], "paired"),  # noqa: E712
        **_rate("false_known", _accusable(group, True), "alarmed"),
        **_rate("false_new", _accusable(group, False), "alarmed"),
        "invariant_rate": _mean(clean.invariants_violated / clean.invariants_checked),
        **_delays(detected, "delay"),
        **_delays(detected, "claimed_delay"),
        **{
            f"diagnosis_{name}": int((detected.diagnosis == name).sum())
            for name in ("exact", "near", "no")
        },
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
    """Of the records of a row: whether its rule was declared before; if it came after some of them, *post hoc*."""
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
        silent = (buggy[f"status_{kind}"] == "ok") & ~buggy[f"alarmed_{kind}"].fillna(True).astype(
            bool
        )
        buggy[paired] = buggy.hit & silent
    return buggy


def _false_alarms(group: "pd.DataFrame") -> dict[str, Any]:
    """Of programs that are right: fixed twins, by what they are, the buggy script in a mended release, controls."""
    ran = group[group.status == "ok"]
    fixed = ran[ran.kind == "fixed"]
    of = {
        "fixed": fixed,
        "controls": ran[ran.kind == CONTROL],
        "upstream": ran[ran.kind == "upstream"],
    }
    of |= {name: fixed[fixed.twin == twin] for name, twin in TWINS.items()}
    return {
        key: value
        for name, part in of.items()
        for key, value in _rate(f"false_{name}", part, "alarmed").items()
    }


def _by_twin(buggy: "pd.DataFrame") -> dict[str, Any]:
    """PAIRED, by what the twin is that it was silent on."""
    parts = {name: (buggy[buggy.twin == twin], "paired") for name, twin in TWINS.items()}
    parts["upstream"] = (buggy[buggy.status_upstream.notna()], "paired_upstream")
    return {
        key: value
        for name, part in parts.items()
        for key, value in _rate(f"paired_{name}", *part).items()
    }


def _rate(name: str, programs: "pd.DataFrame", hits: str) -> dict[str, Any]:
    """How many of the programs are hits, with a clustered interval: the cases of a bug are not independent."""
    clusters: dict[str, list[bool]] = {}
    for kind, bug, case, hit in programs[["kind", "bug", "case", hits]].itertuples(index=False):
        clusters.setdefault(case if kind == CONTROL else bug, []).append(bool(hit))
    found = [clusters[each] for each in sorted(clusters)]
    low, high = clustered([sum(each) for each in found], [len(each) for each in found])
    count, n = int(programs[hits].sum()), len(programs)
    rate = count / n if n else None
    return {
        name: count,
        f"{name}_n": n,
        f"{name}_rate": rate,
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
        _ratio(each.watched_wall, each.bare_wall)
        for each in records
        if each.watched_wall and each.bare_wall
    ]
    claimed = [_ratio(each.watched, each.bare) for each in records]
    return {
        "overhead": median(measured) if measured else None,
        "claimed_overhead": median(claimed) if claimed else None,
        "overhead_of": records[0].of if records else None,
        "overhead_on": ", ".join(f"{record.bug}/{record.case}" for record in records) or None,
    }


def _ratio(watched: Sequence[float], bare: Sequence[float]) -> float:
    return median(watched) / median(bare)


def _mean(values: "pd.Series[float]") -> float | None:
    kept = values.dropna()
    return None if kept.empty else float(kept.mean())
