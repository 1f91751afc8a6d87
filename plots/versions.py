"""The map of affected versions: a row for each case, a column for each release."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from plots.style import STATES, new_figure, save, styled
from runner.bugs.model import Bug
from runner.verdicts.affected import Finding, version_order

if TYPE_CHECKING:
    from matplotlib.patches import Rectangle

CELL_INCHES = (0.95, 0.5)


def draw_versions(bug: Bug, findings: Sequence[Finding], directory: Path, kind: str) -> Path:
    """Draw versions.<kind> into `directory`, from at least one finding; returns the file written."""
    cases = [case for case in bug.cases if any(item.case == case for item in findings)]
    torches = sorted({item.torch for item in findings}, key=version_order)
    with styled():
        figure = new_figure(1)
        figure.set_size_inches(2.2 + CELL_INCHES[0] * len(torches), 1.3 + CELL_INCHES[1] * len(cases))
        axes = figure.subplots()
        axes.set_xlim(-0.5, len(torches) - 0.5)
        axes.set_ylim(len(cases) - 0.5, -0.5)
        for item in findings:
            x, y = torches.index(item.torch), cases.index(item.case)
            axes.add_patch(_cell(x, y, STATES[item.state]))
            axes.text(x, y, item.state.replace(" ", "\n"), ha="center", va="center", fontsize=8)
        axes.set_xticks(range(len(torches)), torches)
        axes.set_yticks(range(len(cases)), cases)
        axes.grid(visible=False)
        axes.tick_params(length=0)
        for side in axes.spines.values():
            side.set_visible(False)
        axes.set_xlabel("torch")
        axes.set_title(f"{bug.id}: the buggy script in each release")
        return save(figure, directory / f"versions.{kind}")


def _cell(x: float, y: float, colour: str) -> "Rectangle":
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, color=colour, linewidth=0)
