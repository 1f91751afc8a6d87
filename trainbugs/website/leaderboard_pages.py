"""The pages of the leaderboard: their templates and what these show."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.catalog import authors, development
from evaluation.model import Detector
from runner.bugs.bug import Bug
from runner.bugs.catalogue_counts import counted_bugs
from trainbugs.website import index, leaderboard
from trainbugs.website.evaluations import BOARD_RATES, RATES, Evaluation
from trainbugs.website.leaderboard import DetectorPart
from trainbugs.website.rewritten import SideBySide
from trainbugs.website.tables import index as as_index


@dataclass(frozen=True)
class LeaderboardPage:
    """One page: its place, its template, its title, and what the template shows."""

    place: str
    template: str
    title: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Leaderboard:
    """All that its pages are made of. `bugs` are the bugs of the catalogue, `pages` has the places
    of texts by their sources, `files` those of other files of the site.
    """

    root: Path
    evaluation: Evaluation
    beside: SideBySide
    bugs: Sequence[Bug]
    pages: Mapping[str, str]
    files: frozenset[str]

    def all(self) -> Iterator[LeaderboardPage]:
        """The pages; raises CatalogError for a detector that cannot be read."""
        parts = list(leaderboard.parts(self.root, self.evaluation))
        yield self._boards(parts)
        yield self._rules(parts)
        yield self._matrix()
        for part in parts:
            yield self._detector(part)

    def _boards(self, parts: list[DetectorPart]) -> LeaderboardPage:
        described = development.load(self.root)
        first = described.bugs if described else ()
        recorded = {score.detector for score in self.evaluation.scores}
        names = [part.detector.name for part in parts]
        table = "downloads/scores.csv"
        values = {
            "boards": leaderboard.boards(self.evaluation),
            "headline": leaderboard.headline(self.evaluation, first),
            "ours": authors.ours(self.root),
            "first": len(first),
            "evaluation": self.evaluation,
            "bugs": len(counted_bugs(self.bugs)),
            "beside": self.beside,
            "rates": BOARD_RATES,
            "days": {part.detector.name: part.authorship.day for part in parts if part.authorship},
            "table": table if table in self.files else None,
            "submissions": self.pages.get("submissions/README.md"),
            "unrecorded": [name for name in names if name not in recorded],
            "overhead": self._figure("overhead"),
        }
        return LeaderboardPage("leaderboard.html", "leaderboard.html", "Leaderboard", values)

    def _rules(self, parts: list[DetectorPart]) -> LeaderboardPage:
        needs = {part.detector.name: _needs(part.detector) for part in parts}
        scores = self.evaluation.scores
        rows = index.score_rows(scores, needs if scores else {})
        values = {
            "scores": scores,
            "rows": as_index(rows),
            "facets": index.score_facets(rows),
            "columns": index.SCORE_COLUMNS,
            "rates": RATES,
        }
        return LeaderboardPage("rules.html", "rules.html", "All rules", values)

    def _matrix(self) -> LeaderboardPage:
        boards = leaderboard.boards(self.evaluation)
        columns = [row for board in boards for row in board.rows if not row.negative]
        values = {
            "columns": columns,
            "rows": leaderboard.matrix_rows(self.evaluation, columns),
            "marks": leaderboard.MARKS,
            "known": self._known,
            "picture": self._figure("matrix"),
        }
        title = "Which detector finds which case"
        return LeaderboardPage("matrix.html", "matrix.html", title, values)

    def _detector(self, part: DetectorPart) -> LeaderboardPage:
        name = part.detector.name
        values = {
            "part": part,
            "description": f"{name}: {part.detector.title}",
            "needs": _needs(part.detector),
            "readme": self.pages.get(f"detectors/{name}/README.md"),
            "rates": BOARD_RATES,
            "all_rates": RATES,
            "kinds": leaderboard.KINDS,
            "known": self._known,
        }
        return LeaderboardPage(part.place, "detector.html", name, values)

    @property
    def _known(self) -> frozenset[str]:
        """The bugs that have a page: records may be of others."""
        return frozenset(bug.id for bug in self.bugs)

    def _figure(self, name: str) -> str | None:
        source = f"detectors/expected/{name}.png"
        return source if (self.root / source).is_file() else None


def _needs(detector: Detector) -> list[str]:
    """What a detector looks at, in words."""
    return [need.replace("_", " ") for need in sorted(detector.needs)]
