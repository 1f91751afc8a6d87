"""The map of affected versions: a row for each case, a column for each release."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from plots.style import NOT_RUN, STATES, bare_grid, new_figure, save, styled
from runner.bugs.bug import Bug
from runner.verdicts.affected import VersionFinding, version_order

if TYPE_CHECKING:
    from matplotlib.patches import Rectangle

# What two of the states mean. The names of the other states say it.
WORDS = {"neither": "neither as buggy nor as fixed", "INVALID": "does not run there"}
CELL_INCHES = (0.95, 0.5)


def draw_versions(
    bug: Bug,
    findings: Sequence[VersionFinding],
    directory: Path,
    kind: str,
    releases: Sequence[str] = (),
) -> Path:
    """Draw versions.<kind> into `directory`, from at least one finding; returns the file written.

    A cell is empty where a case was not run in one of `releases`, so that you see the gaps.
    """
    with_finding = {item.case for item in findings}
    cases = [case for case in bug.cases if case in with_finding]
    columns = sorted({*(item.version for item in findings), *releases}, key=version_order)
    states = {(item.version, item.case): item.state for item in findings}
    with styled():
        figure = new_figure(1)
        width = max(5.5, 2.2 + CELL_INCHES[0] * len(columns))
        height = 1.6 + CELL_INCHES[1] * len(cases)
        figure.set_size_inches(width, height)
        axes = figure.subplots()
        axes.set_xlim(-0.5, len(columns) - 0.5)
        axes.set_ylim(len(cases) - 0.5, -0.5)
        for x, y in product(range(len(columns)), range(len(cases))):
            state = states.get((columns[x], cases[y]), NOT_RUN)
            axes.add_patch(_cell(x, y, state))
            axes.text(x, y, state.replace(" ", "\n"), ha="center", va="center", fontsize=8)
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(cases)), cases)
        bare_grid(axes)
        lines = [f"release of {bug.package}"]
        explained = [f"{state}: {WORDS[state]}" for state in WORDS if state in states.values()]
        if explained:
            lines.append(";  ".join(explained))
        axes.set_xlabel("\n".join(lines))
        axes.set_title(f"{bug.id}: the buggy script in each release")
        return save(figure, directory / f"versions.{kind}")


def _cell(x: float, y: float, state: str) -> "Rectangle":
    from matplotlib.patches import Rectangle

    # A release that was not run has an outline only.
    edge, width = ("#BBBBBB", 0.8) if state == NOT_RUN else ("none", 0.0)
    face = STATES.get(state, "none")
    return Rectangle(
        (x - 0.48, y - 0.46), 0.96, 0.92, facecolor=face, edgecolor=edge, linewidth=width
    )
