"""What detectors said of each case, and the rows of the leaderboard, from committed records or a results folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evaluation.catalog.detectors import NEGATIVE_CONTROLS
from evaluation.catalog.frozen import Frozen
from evaluation.model import CONTROL
from evaluation.scoring import report, scores
from evaluation.scoring.report import as_csv
from runner.bugs.bug import Bug

if TYPE_CHECKING:
    import pandas as pd

    from evaluation.records import OverheadRecord, Records

# The states of a case for a detector, from best to worst to read.
FOUND, BOTH, FALSE, SILENT, ABSENT = (
    "found",
    "also on fixed",
    "false alarm",
    "silent",
    "did not run",
)
# An alarm on the buggy program, and no answer about the fixed one: nobody knows whether it is about the fault.
UNPAIRED = "fixed did not run"
# All alarms came before the fault acts: they cannot be about it, and neither DETECTED nor PAIRED counts them.
EARLY = "before the fault"
STATES = (FOUND, EARLY, UNPAIRED, BOTH, FALSE, SILENT, ABSENT)
# Of all bugs that have records of detectors, which need not be all that there are.
ALL = "all evaluated bugs"


@dataclass(frozen=True)
class Answer:
    """What one row of the leaderboard said of one case, over the seeds that were asked about."""

    detector: str
    label: str
    bug: str
    case: str
    benign: bool
    state: str
    when: str
    site: str


@dataclass(frozen=True)
class Interval:
    """A proportion with its clustered 95 % interval; shares are in percent, None where nothing was counted."""

    count: int
    n: int
    low: float | None
    high: float | None

    @property
    def rate(self) -> float | None:
        """The share in percent."""
        return 100 * self.count / self.n if self.n else None


@dataclass(frozen=True)
class Score:
    """One row of the leaderboard: a detector, kind of references and rule, on a group of bugs.

    Of several rules one is `chosen`; None where there is nothing to choose.
    """

    group: str
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


@dataclass(frozen=True)
class Evaluation:
    """All that the records say: answers by case, scores by group of bugs, and the table behind both as CSV."""

    answers: tuple[Answer, ...]
    scores: tuple[Score, ...]
    outcomes: str = ""

    def of(self, bug: str) -> list[Answer]:
        """The answers about a bug, the best ones first."""
        mine = [answer for answer in self.answers if answer.bug == bug]
        return sorted(
            mine, key=lambda answer: (STATES.index(answer.state), answer.label, answer.case)
        )

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
        """Detector, references and rule of those in whose place another one is chosen."""
        return frozenset(
            (each.detector, each.references, each.rule)
            for each in self.scores
            if each.chosen is False
        )

    def finders(self, bug: str) -> list[str]:
        """The detectors, with their rules, that found a harmful case of a bug and were silent on its fixed twin.

        Negative controls are left out, and rules in whose place another one is chosen.
        """
        found = [answer for answer in self.of(bug) if answer.state == FOUND and not answer.benign]
        rejected = {score.label for score in self.scores if score.chosen is False}
        return sorted(
            {each.label for each in found if each.detector not in NEGATIVE_CONTROLS} - rejected
        )


RATES = {
    "detected": "Detected",
    "paired": "Paired",
    "false_fixed": "False on fixed",
    "false_controls": "On controls",
}
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
    read: "Records", bugs: Sequence[Bug], known: Mapping[str, Frozen] | None = None
) -> Evaluation:
    """The answers and the scores, of all bugs and of those of each location; `known` has who knew which bugs."""
    if not read.checks:
        return Evaluation((), ())
    table = scores.outcomes(read.checks, read.rules, known)
    groups = {ALL: table}
    recorded = set(table.bug[table.kind != CONTROL])
    for location in dict.fromkeys(bug.labels.location for bug in bugs if bug.id in recorded):
        chosen = {bug.id for bug in bugs if bug.labels.location == location}
        # Controls count in every group.
        groups[location] = table[table.bug.isin(chosen) | (table.kind == CONTROL)]
    rows = [row for group, part in groups.items() for row in _scores(group, part, read.overheads)]
    order = list(groups)
    # By all bugs, also in the rows of a location.
    chosen_of = {row.label: row.chosen for row in rows if row.group == ALL}
    rows = [replace(row, chosen=chosen_of[row.label]) for row in rows]
    # Of the rules in whose place another one is chosen only the rows of all bugs: the page is large as it is.
    rows = [row for row in rows if row.group == ALL or row.chosen is not False]
    rows.sort(
        key=lambda row: (order.index(row.group), -(row.rates["paired"].rate or 0.0), row.label)
    )
    return Evaluation(tuple(_answers(table.to_dict("records"))), tuple(rows), as_csv(table))


def _scores(group: str, part: "pd.DataFrame", overheads: "Sequence[OverheadRecord]") -> list[Score]:
    import pandas as pd

    table = scores.scores(part, overheads)
    made = []
    for row in table.to_dict("records"):
        shown = {heading: _text(row, heading) for heading in TEXTS.values()}
        rates, overhead = {name: interval(row, name) for name in RATES}, _measured(row, "overhead")
        if group != ALL:
            # Controls and overheads are of no group.
            rates["false_controls"], overhead, shown["OVERHEAD"] = (
                Interval(0, 0, None, None),
                None,
                "–",
            )
        made.append(
            Score(
                group,
                str(row["detector"]),
                scores.label(row),
                str(row["references"]),
                str(row["rule"]),
                rates,
                {name: shown[heading] for name, heading in TEXTS.items()},
                _measured(row, "delay_median"),
                overhead,
                None if pd.isna(row["chosen"]) else bool(row["chosen"]),
            )
        )
    return made


def interval(row: Mapping[Any, Any], name: str) -> Interval:
    """A rate of a row of scores, which may have none of that name."""
    if _known(row[f"{name}_n"]) is None:
        return Interval(0, 0, None, None)
    low, high = (_known(row[f"{name}_{end}"]) for end in ("low", "high"))
    shares = (None if end is None else 100 * end for end in (low, high))
    return Interval(int(row[name]), int(row[f"{name}_n"]), *shares)


def _text(row: Mapping[Any, Any], heading: str) -> str:
    """A cell of the terminal's table, or what the tool claims."""
    text = report.DETAILS[heading](row)
    claimed = report.CLAIMS[CLAIMED[heading]](row) if text == "-" and heading in CLAIMED else "-"
    return text if claimed == "-" else f"{claimed}, claimed"


def _measured(row: Mapping[Any, Any], name: str) -> float | None:
    """What the benchmark has measured, or what the tool claims."""
    measured = _known(row[name])
    return _known(row[f"claimed_{name}"]) if measured is None else measured


def _known(value: Any) -> float | None:
    """A number, or None for what pandas has in the place of one."""
    import pandas as pd

    return None if pd.isna(value) else float(value)


def _answers(rows: Sequence[Mapping[Any, Any]]) -> list[Answer]:
    groups: dict[tuple[str, ...], list[Mapping[Any, Any]]] = {}
    for row in rows:
        if row["kind"] != CONTROL:
            key = tuple(str(row[name]) for name in (*scores.ROW, "bug", "case"))
            groups.setdefault(key, []).append(row)
    return [
        _answer(group) for group in groups.values() if any(row["kind"] == "buggy" for row in group)
    ]


def _answer(group: Sequence[Mapping[Any, Any]]) -> Answer:
    """The state of a case, as in the figure of the outcomes: over all seeds, beside the fixed twin."""
    buggy = [row for row in group if row["kind"] == "buggy"]
    fixed = [row for row in group if row["kind"] == "fixed"]
    failed = [row["status"] for row in buggy if row["status"] != "ok"]
    alarmed = [row for row in buggy if row["alarmed"]]
    accused = any(row["alarmed"] for row in fixed)
    lacking = not fixed or any(row["status"] != "ok" for row in fixed)
    when = site = ""
    if failed:
        state, when = ABSENT, str(failed[0]).replace("_", " ")
    elif not alarmed:
        state = FALSE if accused else SILENT
    else:
        early = all(row["early"] for row in alarmed)
        state = BOTH if accused else UNPAIRED if lacking else EARLY if early else FOUND
        when, site = _when(alarmed), str(alarmed[0]["diagnosis"])
    first = buggy[0]
    return Answer(
        str(first["detector"]), scores.label(first), str(first["bug"]), str(first["case"]), bool(first["benign"]),
        state, when, site,
    )  # fmt: skip


def _when(alarmed: Sequence[Mapping[Any, Any]]) -> str:
    """In which iterations of the seeds it alarmed first; a detector that reads the text has none."""
    known = [(_known(row["first"]), _measured(row, "delay")) for row in alarmed]
    words = [
        f"iteration {first:g} ({delay:+g})"
        for first, delay in dict.fromkeys(known)
        if first and delay is not None
    ]
    return ", ".join(words) or "no iteration"
