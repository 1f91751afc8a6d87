"""Figures of cases as commands draw them, and the lines that say where they are."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from plots.figures import CaseRuns, DrawnFigures


def draw_runs(
    runs: "Sequence[CaseRuns]", out: Path, kind: str, stream: TextIO | None = None
) -> None:
    """Draw figures and print where they are, on standard output by default.

    One that cannot be drawn is reported, but is no error: the records exist.
    """
    from plots import figures

    print_drawn(figures.draw(runs, out, kind), stream)


def print_drawn(drawn: "DrawnFigures", stream: TextIO | None) -> None:
    """Print which figures cannot be drawn, and where the others are."""
    for problem in drawn.problems:
        print(f"trainbugs: {problem}", file=sys.stderr)
    paths_by_folder: dict[Path, list[Path]] = {}
    for path in drawn.paths:
        paths_by_folder.setdefault(path.parent, []).append(path)
    for folder, paths in paths_by_folder.items():
        if len(paths) > 1:
            print(f"figures: {len(paths)} files in {folder}", file=stream)
        else:
            print(f"figure: {paths[0]}", file=stream)
