"""Scores of detectors: outcomes -> one row a (detector, references, rule).

Every formula is in docs/scores.md.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from evaluation.catalog.detectors import NEGATIVE_CONTROLS
from evaluation.catalog.rule_settings import Settings
from evaluation.model import CONTROL, DIAGNOSES
from evaluation.records import OverheadRecord
from evaluation.scoring.chosen import mark_chosen, paired_ranges
from evaluation.scoring.exact_test import family_test
from evaluation.scoring.families import families
from evaluation.scoring.intervals import clustered
from evaluation.scoring.outcomes import FAILURES, INTEGERS, ROW, since, with_twins
from runner.bugs.catalogue_version import CATALOGUE_VERSION

if TYPE_CHECKING:
    import pandas as pd

# Columns by the kind of fix of the twin: as it was released, as it was proposed, or a work-around.
TWINS = {"released": "released", "proposed": "proposed", "workaround": "work-around"}
# What a detector is given besides the program decides with which others it is compared.
REFERENCE_FREE, CLEAN_RUNS, MORE = "reference-free", "clean runs", "more"

# A row of outcomes, with the columns as attributes; of buggy programs with those of `with_twins`.
Outcome = Any
Rates = dict[str, Any]


def scores(
    table: "pd.DataFrame",
    overheads: Sequence[OverheadRecord] = (),
    settings: Settings | None = None,
) -> "pd.DataFrame":
    """One row for each detector, kind of references and rule;
    benign cases have columns of their own.

    `settings` says by which rules the detectors are meant to be used.
    """
    import pandas as pd

    if table.empty:
        return pd.DataFrame()
    buggy_by_row = _by_row(with_twins(table))
    rows = []
    for key, answers in sorted(_by_row(table).items()):
        names = dict(zip(ROW, key, strict=True))
        timed = _timed(overheads, names["detector"], names["references"])
        scored = _score(answers, buggy_by_row.get(key, []))
        rows.append(names | _about(names["detector"], answers) | scored | _overhead(timed))
    scored_rows = pd.DataFrame(rows)
    ranges = paired_ranges(scored_rows)
    return scored_rows.assign(**ranges, chosen=mark_chosen(scored_rows, settings or {}))


def _by_row(table: "pd.DataFrame") -> dict[tuple[str, ...], list[Outcome]]:
    """The outcomes as plain values, by row of scores: pandas would take a hundred times as long."""
    clusters = families(table)
    integers = {name: table[name].astype(object) for name in INTEGERS if name in table}
    plain = table.assign(cluster=clusters, **integers).astype(object)
    plain = plain.where(plain.notna(), None)
    by_row: dict[tuple[str, ...], list[Outcome]] = {}
    outcome: Outcome
    for outcome in plain.itertuples(index=False, name="Outcome"):
        key = (outcome.detector, outcome.references, outcome.rule)
        by_row.setdefault(key, []).append(outcome)
    return by_row


def _timed(
    overheads: Sequence[OverheadRecord], detector: str, references: str
) -> list[OverheadRecord]:
    """The timings of a detector with one kind of references."""
    detector_overheads = [overhead for overhead in overheads if overhead.detector == detector]
    return [overhead for overhead in detector_overheads if overhead.references == references]


def _about(detector: str, answers: Sequence[Outcome]) -> dict[str, Any]:
    """What a row is of."""
    is_oracle = any(answer.oracle for answer in answers)
    group = CLEAN_RUNS if answers[0].references != "none" else REFERENCE_FREE
    if is_oracle or detector in NEGATIVE_CONTROLS:
        group = MORE
    return {
        "version": answers[0].version,
        "catalogue": CATALOGUE_VERSION,
        "group": group,
        "oracle": is_oracle,
        "rule_since": since([answer.rule_since for answer in answers]),
    }


def _score(answers: Sequence[Outcome], buggy: Sequence[Outcome]) -> dict[str, Any]:
    harmful = [answer for answer in buggy if not answer.benign]
    benign = [answer for answer in buggy if answer.benign]
    detected = [answer for answer in harmful if answer.hit]
    return {
        **_rate("detected", harmful, _is_hit),
        **_rate("paired", harmful, _is_paired),
        **_rate("paired_site", harmful, _is_paired_at_site),
        "bugs": len({answer.bug for answer in harmful}),
        "families": len({answer.family for answer in harmful}),
        "early": sum(answer.alarmed and answer.early for answer in harmful),
        "ran": sum(answer.status == "ok" for answer in harmful),
        **_false_alarms(answers),
        **_by_twin(harmful),
        **_by_familiarity(answers, harmful),
        **_evidence(harmful),
        "invariant_rate": _invariant_rate(answers),
        **_delays(detected, "delay"),
        **_delays(detected, "claimed_delay"),
        **_count_values("diagnosis_", [answer.diagnosis for answer in detected], DIAGNOSES),
        "benign_detected": sum(answer.hit for answer in benign),
        "benign_paired": sum(answer.paired for answer in benign),
        "benign_n": len(benign),
        **_count_values("", [answer.status for answer in answers], FAILURES),
        "prepare_s": _mean(answer.prepare_s for answer in answers),
        "check_s": _mean(answer.check_s for answer in answers if answer.status == "ok"),
    }


def _is_hit(answer: Outcome) -> bool:
    return bool(answer.hit)


def _is_paired(answer: Outcome) -> bool:
    return bool(answer.paired)


def _is_paired_at_site(answer: Outcome) -> bool:
    return bool(answer.paired) and answer.diagnosis in ("exact", "near")


def _is_paired_upstream(answer: Outcome) -> bool:
    return bool(answer.paired_upstream)


def _is_alarmed(answer: Outcome) -> bool:
    return bool(answer.alarmed)


def _by_familiarity(answers: Sequence[Outcome], harmful: Sequence[Outcome]) -> Rates:
    """PAIRED and false alarms on fixed programs, for known bugs and for new bugs.

    Of bugs that a row's authors are not known to have seen, by the twin as well.
    """
    ran_fixed = [answer for answer in answers if answer.kind == "fixed" and answer.status == "ok"]
    rates: Rates = {}
    for name, is_known in (("known", True), ("new", False)):
        met = [answer for answer in harmful if answer.known is is_known]
        ran = [answer for answer in ran_fixed if answer.known is is_known]
        rates |= _rate(f"paired_{name}", met, _is_paired)
        rates |= _rate(f"false_{name}", ran, _is_alarmed)
    unseen = [answer for answer in harmful if answer.known is not True]
    is_mended = [answer for answer in unseen if answer.twin in ("released", "proposed")]
    worked_around = [answer for answer in unseen if answer.twin == "work-around"]
    in_release = [answer for answer in unseen if answer.status_upstream is not None]
    return {
        **rates,
        **_rate("unseen_mended", is_mended, _is_paired),
        **_rate("unseen_workaround", worked_around, _is_paired),
        **_rate("unseen_upstream", in_release, _is_paired_upstream),
    }


def _evidence(harmful: Sequence[Outcome]) -> dict[str, Any]:
    """Programs that are told apart from their twins: by an alarm on the buggy one alone, and on
    the fixed one alone.

    A rule that knows nothing of a fault has as many of the one as of the other. Only programs count
    that it ran on, with their twins. An alarm before the trigger is about no fault: where one of
    the two has such an alarm, the case counts for neither. `evidence_p` is exact, by families.
    """
    pairs = []
    for answer in harmful:
        ran = answer.status == "ok" and answer.status_fixed == "ok"
        if ran and not answer.early and not answer.early_fixed:
            pairs.append((answer.cluster, bool(answer.alarmed), bool(answer.alarmed_fixed)))
    tested = family_test(pairs)
    return {
        "only_buggy": tested.only_first,
        "only_fixed": tested.only_second,
        "evidence_p": tested.p_families,
    }


def _invariant_rate(answers: Sequence[Outcome]) -> float | None:
    """The mean share of violated invariants on programs that are right."""
    right = [answer for answer in answers if answer.kind != "buggy"]
    checked = [answer for answer in right if answer.invariants_checked]
    return _mean(answer.invariants_violated / answer.invariants_checked for answer in checked)


def _count_values(prefix: str, values: Iterable[Any], names: Sequence[str]) -> dict[str, int]:
    """How often every name is among the values."""
    counts = Counter(values)
    return {f"{prefix}{name}": counts[name] for name in names}


def _false_alarms(answers: Sequence[Outcome]) -> Rates:
    """Alarms on programs that are right: fixed twins by kind, mended releases, controls."""
    ran = [answer for answer in answers if answer.status == "ok"]
    fixed = [answer for answer in ran if answer.kind == "fixed"]
    parts = {
        "fixed": fixed,
        "controls": [answer for answer in ran if answer.kind == CONTROL],
        "upstream": [answer for answer in ran if answer.kind == "upstream"],
    }
    for name, twin in TWINS.items():
        parts[name] = [answer for answer in fixed if answer.twin == twin]
    rates: Rates = {}
    for name, part in parts.items():
        rates |= _rate(f"false_{name}", part, _is_alarmed)
    return rates


def _by_twin(harmful: Sequence[Outcome]) -> Rates:
    """PAIRED, by the kind of twin on which it was silent."""
    rates: Rates = {}
    for name, twin in TWINS.items():
        met = [answer for answer in harmful if answer.twin == twin]
        rates |= _rate(f"paired_{name}", met, _is_paired)
    with_upstream = [answer for answer in harmful if answer.status_upstream is not None]
    return rates | _rate("paired_upstream", with_upstream, _is_paired_upstream)


def _rate(name: str, answers: Sequence[Outcome], is_counted: Callable[[Outcome], bool]) -> Rates:
    """How many of the programs count, with an interval that is clustered by family.

    `{name}_by_family` is the mean of the families' rates: each family weighs the same.
    """
    clusters: dict[str, list[bool]] = {}
    for answer in answers:
        clusters.setdefault(answer.cluster, []).append(is_counted(answer))
    ordered = [clusters[cluster] for cluster in sorted(clusters)]
    counts = [sum(cluster) for cluster in ordered]
    sizes = [len(cluster) for cluster in ordered]
    low, high = clustered(counts, sizes)
    count, n = sum(counts), len(answers)
    rates = [count / size for count, size in zip(counts, sizes, strict=True)]
    return {
        name: count,
        f"{name}_n": n,
        f"{name}_rate": count / n if n else None,
        f"{name}_low": low,
        f"{name}_high": high,
        f"{name}_by_family": sum(rates) / len(rates) if rates else None,
    }


def _delays(detected: Sequence[Outcome], name: str) -> dict[str, Any]:
    delays = [getattr(answer, name) for answer in detected if getattr(answer, name) is not None]
    if not delays:
        return {f"{name}_median": None, f"{name}_max": None}
    return {f"{name}_median": float(median(delays)), f"{name}_max": int(max(delays))}


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


def _mean(values: Iterable[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return fmean(numbers) if numbers else None
