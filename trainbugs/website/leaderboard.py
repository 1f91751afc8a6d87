"""The leaderboard: three tables by what a detector is given, one of negative controls,
the matrix of all cases, and a page for each detector.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.catalog import authors, detectors
from evaluation.catalog.authors import Authorship
from evaluation.model import Detector
from evaluation.scoring.case_state import ABSENT, BOTH, EARLY, FALSE, FOUND, SILENT, UNPAIRED
from evaluation.scoring.exact_test import holm
from evaluation.scoring.scores import CLEAN_RUNS, MORE, REFERENCE_FREE
from trainbugs.website.evaluations import ALL, FALSE_NEW, Evaluation, Pair, Score, ShownAnswer

# The table of negative controls, which the terminal prints among the detectors that see more.
NEGATIVE = "negative controls"
BOARDS = {
    REFERENCE_FREE: (
        "Detectors that need no clean runs",
        "They see one program, and nothing else.",
    ),
    CLEAN_RUNS: (
        "Detectors that learn from clean runs",
        "They are given runs without the fault: of the same program, or of others.",
    ),
    MORE: ("Detectors that see more", "Do not compare these with each other."),
    NEGATIVE: (
        "Negative controls",
        "These look for something else, or know the published programs by heart. What they find "
        "tells how easily something is found.",
    ),
}
# Who accuses more fixed programs, of bugs that the row's authors did not know, is not careful.
CAREFUL_PERCENT = 5
# What stands in a cell of the matrix.
MARKS = {FOUND: "●", EARLY: "◔", UNPAIRED: "◑", BOTH: "◐", FALSE: "✗", SILENT: "○", ABSENT: "–"}
# The answers about harmful cases on the page of a detector, the best ones first.
KINDS = {
    FOUND: "Found: an alarm on the buggy program, and none on its fixed twin",
    EARLY: "Before the fault: all alarms are earlier than the fault acts",
    UNPAIRED: "Alarm, but it did not run on the fixed twin",
    BOTH: "Also on fixed: it accuses both twins",
    FALSE: "False alarm: it accuses the fixed twin alone",
    SILENT: "Missed: no alarm",
    ABSENT: "Did not run",
}


@dataclass(frozen=True)
class ScoreBoard:
    """One table of the leaderboard."""

    name: str
    title: str
    note: str
    rows: tuple[Score, ...]


@dataclass(frozen=True)
class CrossTable:
    """Answers about a bug by row and case: of each row its label, its detector, and the answers by
    case. `others` are by rules in whose place another one is chosen.
    """

    cases: Sequence[str]
    rows: Sequence[tuple[str, str, Mapping[str, ShownAnswer]]]
    others: Sequence[ShownAnswer]


@dataclass(frozen=True)
class Headline:
    """How many harmful cases came after the first bugs, by whose answers rules were declared; how
    many of them no careful detector without clean runs finds; the names of these detectors; how
    many cases all detectors without clean runs find together, and how many those with clean runs.
    """

    cases: int
    escaped: int
    careful: Collection[str]
    without_references: int
    with_clean_runs: int


@dataclass(frozen=True)
class Versus:
    """A pair of rows, the detector's own one first, with Holm's correction for its pairs."""

    pair: Pair
    holm: float


@dataclass(frozen=True)
class DetectorPart:
    """What the page of a detector shows.

    `answers` are by the label of a row, then by their kind.
    """

    detector: Detector
    authorship: Authorship | None
    rows: tuple[Score, ...]
    rules: tuple[Score, ...]
    locations: tuple[Score, ...]
    answers: Mapping[str, Mapping[str, Sequence[ShownAnswer]]]
    accused: Mapping[str, Sequence[str]]
    versus: tuple[Versus, ...]

    @property
    def place(self) -> str:
        """Its place on the site."""
        return place(self.detector.name)


def place(detector: str) -> str:
    """The place on the site of the page of a detector."""
    return f"detectors/{detector}.html"


def main_rows(evaluation: Evaluation) -> list[Score]:
    """The rows of all bugs by each detector's own setting."""
    return [row for row in evaluation.scores if row.group == ALL and row.chosen is not False]


def headline(evaluation: Evaluation, first: Collection[str]) -> Headline:
    """The headline; `first` are the first bugs. No row counts on a bug that its authors knew."""
    rows = [row for row in main_rows(evaluation) if _met_new(row)]
    new = [
        answer
        for answer in evaluation.answers
        if answer.bug not in first and not answer.benign and answer.counted
    ]

    def found_by(chosen: Iterable[Score]) -> int:
        labels = {row.label for row in chosen}
        fair = [answer for answer in new if answer.label in labels and answer.known is False]
        return len({answer.id for answer in fair if answer.state == FOUND})

    free = [row for row in rows if row.board == REFERENCE_FREE]
    # Like with like: what a row finds of these cases counts the same way.
    careful = [row for row in free if (row.rates[FALSE_NEW].rate or 0.0) <= CAREFUL_PERCENT]
    cases = len({answer.id for answer in new})
    return Headline(
        cases=cases,
        escaped=cases - found_by(careful),
        careful={row.detector for row in careful},
        without_references=found_by(free),
        with_clean_runs=found_by(row for row in rows if row.board == CLEAN_RUNS),
    )


def _met_new(row: Score) -> bool:
    """Whether there is a bug that the row's authors did not know."""
    return any(row.rates[name].n for name in ("unseen_mended", "unseen_workaround"))


def boards(evaluation: Evaluation) -> list[ScoreBoard]:
    """The tables that have rows: the row that finds most comes first, then who accuses least."""
    made = []
    for name, (title, note) in BOARDS.items():
        rows = [row for row in main_rows(evaluation) if _board(row) == name]
        if rows:
            made.append(ScoreBoard(name, title, note, tuple(sorted(rows, key=_board_order))))
    return made


def _board(row: Score) -> str:
    """The table in which a row stands."""
    return NEGATIVE if row.negative else row.board


def _board_order(row: Score) -> tuple[float, float, str]:
    """Who knew all bugs has no rate, and stands where the others end."""
    found, accused = row.rates["unseen_mended"].rate, row.rates["false_fixed"].rate
    return -(found if found is not None else -1.0), accused or 0.0, row.label


def matrix_rows(
    evaluation: Evaluation, columns: Sequence[Score]
) -> list[tuple[ShownAnswer, list[str | None]]]:
    """For each case that counts an answer about it, and the states by the columns; None where the
    case was not shown.
    """
    by_case: dict[str, dict[str, ShownAnswer]] = {}
    for answer in evaluation.answers:
        if answer.counted and not answer.benign:
            by_case.setdefault(answer.id, {})[answer.label] = answer
    rows = []
    for _, answers in sorted(by_case.items()):
        first = next(iter(answers.values()))
        states = [answers[row.label].state if row.label in answers else None for row in columns]
        rows.append((first, states))
    return rows


def cross_table(evaluation: Evaluation, bug: str) -> CrossTable:
    """What the rows say of the cases of a bug, the best ones first."""
    rejected = {score.label for score in evaluation.scores if score.chosen is False}
    answers = evaluation.answers_about(bug)
    shown = [answer for answer in answers if answer.label not in rejected]
    rows: dict[str, tuple[str, str, dict[str, ShownAnswer]]] = {}
    for answer in shown:
        row = rows.setdefault(answer.label, (answer.label, answer.detector, {}))
        row[2][answer.case] = answer
    cases = sorted({answer.case for answer in answers})
    others = [answer for answer in answers if answer.label in rejected]
    return CrossTable(cases, list(rows.values()), others)


def parts(root: Path, evaluation: Evaluation) -> Iterator[DetectorPart]:
    """The parts of all detectors of a catalogue; raises CatalogError."""
    authorships = authors.load(root)
    for name in detectors.names(root):
        yield _part(detectors.load(root, name), authorships.get(name), evaluation)


def _part(
    detector: Detector, authorship: Authorship | None, evaluation: Evaluation
) -> DetectorPart:
    scores = [score for score in evaluation.scores if score.detector == detector.name]
    whole = [score for score in scores if score.group == ALL]
    rows = [score for score in whole if score.chosen is not False]
    labels = [row.label for row in rows]
    return DetectorPart(
        detector=detector,
        authorship=authorship,
        rows=tuple(rows),
        rules=tuple(whole) if len(whole) > len(rows) else (),
        locations=tuple(score for score in scores if score.group != ALL),
        answers={label: _by_kind(evaluation, label) for label in labels},
        accused={label: evaluation.accused_controls.get(label, ()) for label in labels},
        versus=tuple(_versus(evaluation.pairs, labels)),
    )


def _by_kind(evaluation: Evaluation, label: str) -> dict[str, list[ShownAnswer]]:
    """The answers of a row by their kind, in the order of KINDS; kinds without one are left out."""
    by_kind: dict[str, list[ShownAnswer]] = {kind: [] for kind in KINDS}
    for answer in evaluation.answers:
        if answer.label == label:
            by_kind[answer.state].append(answer)
    return {kind: answers for kind, answers in by_kind.items() if answers}


def _versus(pairs: Sequence[Pair], labels: Sequence[str]) -> list[Versus]:
    """Each of these rows against every other one, the clearest difference first."""
    versus_others = [pair for pair in pairs if pair.first in labels and pair.second not in labels]
    versus_others += [
        pair.swapped for pair in pairs if pair.second in labels and pair.first not in labels
    ]
    corrected = holm([pair.p for pair in versus_others])
    versus = [Versus(pair, p) for pair, p in zip(versus_others, corrected, strict=True)]
    return sorted(versus, key=lambda row: (row.pair.p, row.pair.first, row.pair.second))
