"""What detectors said of each case, and the rows of the leaderboard,
from committed records or a results folder.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from evaluation.catalog.declared import collect
from evaluation.catalog.detectors import NEGATIVE_CONTROLS
from evaluation.catalog.frozen import Frozen
from evaluation.catalog.rule_settings import Settings
from evaluation.model import CONTROL
from evaluation.scoring import report, scores
from evaluation.scoring.case_state import ABSENT, FOUND, STATES, case_state
from evaluation.scoring.comparison import comparisons
from evaluation.scoring.outcomes import ROW, label
from evaluation.scoring.outcomes import outcomes as compute_outcomes
from evaluation.scoring.report import as_csv
from runner.bugs.bug import Bug

if TYPE_CHECKING:
    import pandas as pd

    from evaluation.records import Records

# Of all bugs that have records of detectors, which need not be all that there are.
ALL = "all evaluated bugs"


@dataclass(frozen=True)
class ShownAnswer:
    """What one row of the leaderboard said of one case, over the seeds that were asked about."""

    detector: str
    label: str
    bug: str
    case: str
    benign: bool
    state: str
    when: str
    site: str
    # Whether the case is in the scores.
    counted: bool = True
    # Whether the authors of the row knew the bug; None if nobody has noted it.
    known: bool | None = None

    @property
    def id(self) -> str:
        """The case as users name it."""
        return f"{self.bug}/{self.case}"


@dataclass(frozen=True)
class Interval:
    """A proportion with its clustered 95 % interval; shares are in percent,
    None where nothing was counted.
    """

    count: int
    n: int
    low: float | None
    high: float | None

    @property
    def rate(self) -> float | None:
        """The share in percent."""
        return 100 * self.count / self.n if self.n else None


NOTHING_COUNTED = Interval(0, 0, None, None)


@dataclass(frozen=True)
class Score:
    """One row of the leaderboard: a detector, kind of references and rule, on a group of bugs.

    `board` is the table in which it stands, by what the detector is given. Of several rules one is
    `chosen`; None where there is nothing to choose.
    """

    group: str
    board: str
    version: str
    detector: str
    label: str
    references: str
    rule: str
    rates: Mapping[str, Interval]
    texts: Mapping[str, str]
    delay: float | None
    overhead: float | None
    chosen: bool | None = None

    @property
    def negative(self) -> bool:
        """Whether the detector is a negative control."""
        return self.detector in NEGATIVE_CONTROLS

    @property
    def is_main(self) -> bool:
        """Whether it is of all bugs, by the detector's own setting, and no negative control."""
        return self.group == ALL and self.chosen is not False and not self.negative


@dataclass(frozen=True)
class Pair:
    """Two rows on the cases that both met: those on which one alone is PAIRED, the families on
    which one is so more often, and McNemar's exact p of these families.
    """

    first: str
    second: str
    cases: int
    only_first: int
    only_second: int
    families_first: int
    families_second: int
    p: float

    @property
    def swapped(self) -> "Pair":
        """The same pair, the second row first."""
        return Pair(
            first=self.second,
            second=self.first,
            cases=self.cases,
            only_first=self.only_second,
            only_second=self.only_first,
            families_first=self.families_second,
            families_second=self.families_first,
            p=self.p,
        )


@dataclass(frozen=True)
class Evaluation:
    """All that the records say: answers by case, scores by group of bugs, pairs of rows that are
    their detectors' own setting, and the table behind all as CSV.
    """

    answers: tuple[ShownAnswer, ...]
    scores: tuple[Score, ...]
    outcomes: str = ""
    # The names of the controls that a row accuses, by its label.
    accused_controls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pairs: tuple[Pair, ...] = ()

    def answers_about(self, bug: str) -> list[ShownAnswer]:
        """The answers about a bug, the best ones first."""
        return list(self._by_bug.get(bug, ()))

    @cached_property
    def _by_bug(self) -> dict[str, list[ShownAnswer]]:
        by_bug: dict[str, list[ShownAnswer]] = {}
        for answer in sorted(self.answers, key=_answer_order):
            by_bug.setdefault(answer.bug, []).append(answer)
        return by_bug

    @property
    def bugs(self) -> int:
        """How many bugs have answers."""
        return len({answer.bug for answer in self.answers})

    @property
    def programs(self) -> int:
        """How many buggy programs have answers."""
        return len({(answer.bug, answer.case) for answer in self.answers})

    @property
    def rejected(self) -> frozenset[tuple[str, ...]]:
        """Detector, references and rule of the scores in whose place another rule is chosen."""
        rejected = [score for score in self.scores if score.chosen is False]
        return frozenset((score.detector, score.references, score.rule) for score in rejected)

    def finders(self, bug: str) -> list[str]:
        """The detectors, with their rules, that found a harmful case of a bug and were silent on
        its fixed twin.

        Negative controls are left out, and rules in whose place another one is chosen.
        """
        rejected = {score.label for score in self.scores if score.chosen is False}
        labels = set()
        for answer in self.answers_about(bug):
            is_hit = answer.state == FOUND and not answer.benign
            if is_hit and answer.detector not in NEGATIVE_CONTROLS:
                labels.add(answer.label)
        return sorted(labels - rejected)


def _answer_order(answer: ShownAnswer) -> tuple[int, str, str]:
    return STATES.index(answer.state), answer.label, answer.case


RATES = {
    "detected": "Detected",
    "paired": "Paired",
    "false_fixed": "False on fixed",
    "false_controls": "On controls",
}
# The columns of the three tables, with an interval each.
BOARD_RATES = {
    "unseen_mended": "Real fix",
    "unseen_upstream": "Upstream",
    "false_fixed": "On fixed",
    "false_controls": "On controls",
    "unseen_workaround": "Work-around",
}
# What stands beside them as text.
# Fixed programs of bugs that the authors of a row did not know.
FALSE_NEW = "false_new"
BOARD_TEXTS = {"known": "KNOWN", "rules": "RULES", "apart": "APART"}
TEXTS = {
    "delay": "DELAY",
    "site": "SITE",
    "benign": "BENIGN",
    "overhead": "OVERHEAD",
    "failed": "DID NOT RUN",
}
# What a tool says of itself stands where the benchmark has not measured it, and is marked.
CLAIMED = {"DELAY": "CLAIMED DELAY", "OVERHEAD": "CLAIMED OVERHEAD"}


def evaluation(
    records: "Records",
    bugs: Sequence[Bug],
    known: Mapping[str, Frozen] | None = None,
    settings: Settings | None = None,
) -> Evaluation:
    """The answers and the scores, of all bugs and of those of each location.

    `known` says who knew which bugs, `settings` by which rules the detectors are meant to be used.
    """
    if not records.checks:
        return Evaluation((), ())
    declared = collect(bugs)
    table = compute_outcomes(records.checks, records.rules, known, declared)
    cases = table.bug + "/" + table.case
    counted = table[~cases.isin(set(declared.uncounted))]
    rows: list[Score] = []
    groups = _groups(counted, bugs)
    for group, part in groups.items():
        scored = scores.scores(part, records.overheads, settings)
        rows += [_score(group, row) for row in scored.to_dict("records")]
    rows = _without_rejected_parts(rows)
    order = list(groups)
    rows.sort(key=lambda row: (order.index(row.group), *_leaderboard_order(row)))
    return Evaluation(
        tuple(_answers(table.to_dict("records"), set(declared.uncounted))),
        tuple(rows),
        as_csv(table),
        _accused_controls(table),
        tuple(_pairs(counted, rows)),
    )


def _accused_controls(table: "pd.DataFrame") -> dict[str, tuple[str, ...]]:
    """The controls that each row accuses, by its label."""
    accused = table[(table.kind == CONTROL) & table.alarmed]
    names: dict[str, list[str]] = {}
    for row in accused.to_dict("records"):
        names.setdefault(label(row), []).append(str(row["case"]))
    return {row: tuple(sorted(set(controls))) for row, controls in names.items()}


def _pairs(table: "pd.DataFrame", rows: Sequence[Score]) -> Iterator[Pair]:
    """Each pair of rows that are their detectors' own setting, negative controls aside."""
    shown = {(row.detector, row.references, row.rule) for row in rows if row.is_main}
    keys = table[ROW].itertuples(index=False, name=None)
    compared = comparisons(table[[key in shown for key in keys]])
    for pair in compared[compared.measure == "paired"].to_dict("records"):
        yield Pair(
            first=pair["first"],
            second=pair["second"],
            cases=pair["programs"],
            only_first=pair["only_first"],
            only_second=pair["only_second"],
            families_first=pair["bugs_first"],
            families_second=pair["bugs_second"],
            p=pair["p_bugs"],
        )


def _groups(table: "pd.DataFrame", bugs: Sequence[Bug]) -> "dict[str, pd.DataFrame]":
    """The outcomes of all bugs, and of those of each location; controls count in every group."""
    groups = {ALL: table}
    is_control = table.kind == CONTROL
    recorded = set(table.bug[~is_control])
    for location in dict.fromkeys(bug.labels.location for bug in bugs if bug.id in recorded):
        ids = {bug.id for bug in bugs if bug.labels.location == location}
        groups[location] = table[table.bug.isin(ids) | is_control]
    return groups


def _without_rejected_parts(rows: Sequence[Score]) -> list[Score]:
    """The rows; of the rules in whose place another one is chosen only the rows of all bugs: the
    page is large as it is.
    """
    return [row for row in rows if row.group == ALL or row.chosen is not False]


def _leaderboard_order(row: Score) -> tuple[float, str]:
    return -(row.rates["paired"].rate or 0.0), row.label


def _score(group: str, row: Mapping[Any, Any]) -> Score:
    import pandas as pd

    rates = {name: interval(row, name) for name in (*RATES, *BOARD_RATES, FALSE_NEW)}
    texts = {name: _text(row, heading) for name, heading in TEXTS.items()}
    texts |= {name: report.ASIDE[heading](row) for name, heading in BOARD_TEXTS.items()}
    overhead = _measured(row, "overhead")
    if group != ALL:
        # Controls and overheads are of no group.
        rates["false_controls"] = NOTHING_COUNTED
        texts["overhead"] = "–"
        overhead = None
    return Score(
        group=group,
        board=str(row["group"]),
        version=str(row["version"]),
        detector=str(row["detector"]),
        label=label(row),
        references=str(row["references"]),
        rule=str(row["rule"]),
        rates=rates,
        texts=texts,
        delay=_measured(row, "delay_median"),
        overhead=overhead,
        chosen=None if pd.isna(row["chosen"]) else bool(row["chosen"]),
    )


def interval(row: Mapping[Any, Any], name: str) -> Interval:
    """A rate of a row of scores, which may have none of that name."""
    if _number(row[f"{name}_n"]) is None:
        return NOTHING_COUNTED
    low, high = _number(row[f"{name}_low"]), _number(row[f"{name}_high"])
    return Interval(int(row[name]), int(row[f"{name}_n"]), _percent(low), _percent(high))


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _text(row: Mapping[Any, Any], heading: str) -> str:
    """A cell of the terminal's table, or what the tool claims."""
    text = report.DETAILS[heading](row)
    if text != "-" or heading not in CLAIMED:
        return text
    claim = report.CLAIMS[CLAIMED[heading]](row)
    return text if claim == "-" else f"{claim}, claimed"


def _measured(row: Mapping[Any, Any], name: str) -> float | None:
    """What the benchmark has measured, or what the tool claims."""
    measured = _number(row[name])
    return _number(row[f"claimed_{name}"]) if measured is None else measured


def _number(value: Any) -> float | None:
    """A number, or None for what pandas has in the place of one."""
    import pandas as pd

    return None if pd.isna(value) else float(value)


def _answers(rows: Sequence[Mapping[Any, Any]], uncounted: Set[str]) -> list[ShownAnswer]:
    groups: dict[tuple[str, ...], list[Mapping[Any, Any]]] = {}
    for row in rows:
        if row["kind"] != CONTROL:
            key = tuple(str(row[name]) for name in (*ROW, "bug", "case"))
            groups.setdefault(key, []).append(row)
    answers = [_answer(group) for group in groups.values() if _with_kind(group, "buggy")]
    return [replace(answer, counted=answer.id not in uncounted) for answer in answers]


def _with_kind(rows: Sequence[Mapping[Any, Any]], kind: str) -> list[Mapping[Any, Any]]:
    return [row for row in rows if row["kind"] == kind]


def _answer(group: Sequence[Mapping[Any, Any]]) -> ShownAnswer:
    """The state of a case, as in the figure of the outcomes: over all seeds,
    beside the fixed twin.
    """
    buggy, fixed = _with_kind(group, "buggy"), _with_kind(group, "fixed")
    first = buggy[0]
    state, when, site = _state(buggy, fixed)
    return ShownAnswer(
        detector=str(first["detector"]),
        label=label(first),
        bug=str(first["bug"]),
        case=str(first["case"]),
        benign=bool(first["benign"]),
        state=state,
        when=when,
        site=site,
        known=first.get("known"),
    )


def _state(
    buggy: Sequence[Mapping[Any, Any]], fixed: Sequence[Mapping[Any, Any]]
) -> tuple[str, str, str]:
    """The state of a case, when the detector alarmed first, and how the alarm names the site."""
    state = case_state(_rows(buggy), _rows(fixed))
    if state == ABSENT:
        failures = [str(row["status"]) for row in buggy if row["status"] != "ok"]
        return state, failures[0].replace("_", " "), ""
    alarmed = [row for row in buggy if row["alarmed"]]
    if not alarmed:
        return state, "", ""
    return state, _when(alarmed), str(alarmed[0]["diagnosis"])


def _rows(rows: Sequence[Mapping[Any, Any]]) -> list[SimpleNamespace]:
    return [_row(row) for row in rows]


def _row(row: Mapping[Any, Any]) -> SimpleNamespace:
    return SimpleNamespace(**{str(name): value for name, value in row.items()})


def _when(alarmed: Sequence[Mapping[Any, Any]]) -> str:
    """In which iterations of the seeds it alarmed first;
    a detector that reads the text has none.
    """
    iterations = [(_number(row["first"]), _measured(row, "delay")) for row in alarmed]
    words = [
        f"iteration {first:g} ({delay:+g})"
        for first, delay in dict.fromkeys(iterations)
        if first and delay is not None
    ]
    return ", ".join(words) or "no iteration"
