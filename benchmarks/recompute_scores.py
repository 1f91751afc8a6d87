"""Scores computed a second time, by code that shares nothing with evaluation/scoring: is the
arithmetic of scores.csv right?

    python benchmarks/recompute_scores.py            # every row of the committed scores

It reads the records that count, as all commands do, and their alarms; everything from there on is
its own. It prints each number that differs, and ends with 1 if there is one.
"""

import csv
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.catalog import submissions
from evaluation.catalog.declared import declared_programs
from evaluation.model import Alarm, Rule
from evaluation.reading.sources import RecordSelection, read_records
from evaluation.records import CheckRecord
from runner.bugs.catalog import Catalog

ROOT = Path(__file__).parents[1]
SCORES = ROOT / "detectors" / "expected" / "scores.csv"
LEVELS = {"info": 0, "warning": 1, "error": 2}
# Relative differences of floats that were written and read.
TOLERANCE = 1e-9
# The 97.5 % quantile of Student's t by degrees of freedom, as tables of statistics have it.
STUDENT = {1: 12.7062, 5: 2.5706, 10: 2.2281, 20: 2.0860, 30: 2.0423, 40: 2.0211, 60: 2.0003}

Row = tuple[str, str, str]
Numbers = dict[str, float]


def first_enough(alarms: Sequence[Alarm], rule: Rule) -> Alarm | None:
    """The alarm with which a rule has enough of them."""
    seen = 0
    for alarm in sorted(alarms, key=lambda alarm: alarm.seen or alarm.iteration or 0):
        has_code = not rule.codes or alarm.code in rule.codes
        if has_code and LEVELS[alarm.severity] >= LEVELS[rule.minimum_severity]:
            seen += alarm.times
        if has_code and seen >= rule.at_least:
            return alarm
    return None


def is_alarm(check: CheckRecord, rule: Rule) -> bool:
    """Whether a detector that ran alarms on a program."""
    return check.status == "ok" and first_enough(check.alarms, rule) is not None


def is_hit(check: CheckRecord, rule: Rule) -> bool:
    """Whether it alarms on a program of a case, and not before the fault acts."""
    alarm = first_enough(check.alarms, rule) if check.status == "ok" else None
    if alarm is None:
        return False
    when = alarm.iteration if alarm.seen is None else alarm.seen
    return when is None or when >= check.trigger


def is_early(check: CheckRecord, rule: Rule) -> bool:
    """Whether it alarms on a program of a case, but before the fault acts."""
    return is_alarm(check, rule) and not is_hit(check, rule)


def sign_test(leads: Iterable[int]) -> float:
    """The exact two-sided p that families fall to either side like a coin."""
    ahead = [lead for lead in leads if lead]
    fewer = min(sum(lead > 0 for lead in ahead), sum(lead < 0 for lead in ahead))
    chance = sum(math.comb(len(ahead), k) for k in range(fewer + 1)) / 2 ** len(ahead)
    return min(1.0, 2 * chance)


class Judge:
    """What the catalogue says of the programs that the records are of."""

    def __init__(self, catalog: Catalog) -> None:
        self.declared = declared_programs(catalog)
        self.frozen = submissions.load_frozen(catalog.root)

    def family(self, check: CheckRecord) -> str:
        """What counts once."""
        return self.declared.families.get(check.bug, check.bug)

    def fix(self, check: CheckRecord) -> str:
        """The kind of the twin's fix."""
        fix = self.declared.fixes.get(f"{check.bug}/{check.case}")
        return fix or ("work-around" if "/" in check.site.file else "proposed")

    def knows(self, check: CheckRecord, rule: str) -> bool | None:
        """Whether the row's authors knew the bug; None if nobody says."""
        frozen = self.frozen.get(check.detector)
        if frozen is None or frozen.version != check.version:
            return None
        older = frozen.rules.get(rule)
        return check.bug in (older.developed_on if older else frozen.developed_on)


def recompute(checks: Sequence[CheckRecord], rule_name: str, rule: Rule, judge: Judge) -> Numbers:
    """The numbers of one row."""
    by_program: dict[Any, dict[str, CheckRecord]] = defaultdict(dict)
    for check in checks:
        by_program[check.bug, check.case, check.seed][check.kind] = check
    numbers: Numbers = defaultdict(int)
    leads: dict[str, int] = defaultdict(int)
    pairs: dict[str, list[bool]] = defaultdict(list)
    for kinds in by_program.values():
        for kind, name in (("fixed", "false_fixed"), ("control", "false_controls")):
            if kind in kinds and kinds[kind].status == "ok":
                numbers[f"{name}_n"] += 1
                numbers[name] += is_alarm(kinds[kind], rule)
        if "buggy" not in kinds or kinds["buggy"].benign:
            continue
        count_case(kinds, rule_name, rule, judge, numbers, leads, pairs)
    numbers["evidence_p"] = sign_test(leads.values())
    if pairs:
        numbers["paired_low"], numbers["paired_high"] = interval(pairs)
    return numbers


def count_case(
    kinds: Mapping[str, CheckRecord],
    rule_name: str,
    rule: Rule,
    judge: Judge,
    numbers: Numbers,
    leads: dict[str, int],
    pairs: dict[str, list[bool]],
) -> None:
    """Add one case to the numbers of a row."""
    buggy = kinds["buggy"]
    hit = is_hit(buggy, rule)
    fixed, upstream = kinds.get("fixed"), kinds.get("upstream")
    silent = fixed is not None and fixed.status == "ok" and not is_alarm(fixed, rule)
    paired = hit and silent
    numbers["detected"] += hit
    numbers["paired"] += paired
    numbers["paired_n"] += 1
    pairs[judge.family(buggy)].append(paired)
    known = judge.knows(buggy, rule_name)
    if known is True:
        numbers["paired_known"] += paired
        numbers["paired_known_n"] += 1
    else:
        name = "unseen_workaround" if judge.fix(buggy) == "work-around" else "unseen_mended"
        numbers[name] += paired
        numbers[f"{name}_n"] += 1
        if upstream is not None:
            numbers["unseen_upstream_n"] += 1
            is_silent = upstream.status == "ok" and not is_alarm(upstream, rule)
            numbers["unseen_upstream"] += hit and is_silent
    if fixed is not None and fixed.status == buggy.status == "ok":
        # An alarm before the fault acts says nothing of the fault, on whichever of the two it is.
        if is_early(buggy, rule) or is_early(fixed, rule):
            return
        accused = is_alarm(fixed, rule)
        numbers["only_buggy"] += hit and not accused
        numbers["only_fixed"] += accused and not hit
        leads[judge.family(buggy)] += hit - accused


def interval(pairs: Mapping[str, list[bool]]) -> tuple[float, float]:
    """Wilson's interval of the effective sample size, as docs/scores.md describes it."""
    clusters = list(pairs.values())
    sizes, hits = [len(cluster) for cluster in clusters], [sum(cluster) for cluster in clusters]
    n, share, most = sum(sizes), sum(hits) / sum(sizes), sum(s * s for s in sizes) / sum(sizes)
    z = 1.959963984540054
    effect = most
    if 0 < share < 1 and len(clusters) > 1:
        squares = sum((h - share * s) ** 2 for h, s in zip(hits, sizes, strict=True))
        raw = len(clusters) / (len(clusters) - 1) * squares / (n * share * (1 - share))
        effect = min(max(raw, 1.0), most)
        z = student(len(clusters) - 1)
    m = n / effect
    middle = (share + z * z / (2 * m)) / (1 + z * z / m)
    half = z * math.sqrt(share * (1 - share) / m + z * z / (4 * m * m)) / (1 + z * z / m)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return (low if share > 0 else 0.0), (high if share < 1 else 1.0)


def student(freedom: int) -> float:
    """The quantile between two entries of the table, linear in 1/freedom, as tables advise."""
    if freedom in STUDENT:
        return STUDENT[freedom]
    entries = [(1 / known, value) for known, value in STUDENT.items()]
    entries.append((0.0, 1.95996))
    entries.sort()
    place = 1 / freedom
    above = next(index for index, (inverse, _) in enumerate(entries) if inverse > place)
    (left, low), (right, high) = entries[above - 1], entries[above]
    return low + (high - low) * (place - left) / (right - left)


def differences(root: Path, path: Path) -> list[str]:
    """A line for each number of scores.csv that differs from the second computation."""
    catalog = Catalog(root)
    records = read_records(catalog, RecordSelection((), "expected", Path()))
    judge = Judge(catalog)
    checks_by_row: dict[tuple[str, str], list[CheckRecord]] = defaultdict(list)
    for check in records.checks:
        checks_by_row[check.detector, check.references].append(check)
    lines = []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            detector, references, rule_name = row["detector"], row["references"], row["rule"]
            rule = records.rules[detector][rule_name]
            computed = recompute(checks_by_row[detector, references], rule_name, rule, judge)
            for name, value in computed.items():
                # The table of quantiles has four digits.
                tolerance = 2e-3 if name.endswith(("_low", "_high")) else TOLERANCE
                if not math.isclose(float(row[name]), value, rel_tol=tolerance, abs_tol=tolerance):
                    lines.append(
                        f"{detector} {references} {rule_name}: {name} {row[name]}, {value}"
                    )
    return lines


if __name__ == "__main__":
    found = differences(ROOT, SCORES)
    print("\n".join(found) or "all numbers agree")
    sys.exit(bool(found))
