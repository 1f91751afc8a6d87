"""Figures of detectors: a matrix of outcomes with delays, and the detection rate against the overhead."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.scoring.scores import ROW, label
from plots.style import OUTCOMES, PANEL_INCHES, SINGLE, new_figure, save, styled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

CELL_INCHES = (0.68, 0.3)
# Labels of points that are at the same height and closer than this factor are stacked.
CROWDED = 1.6
TICKS = (1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000)


def draw(outcomes: "pd.DataFrame", scores: "pd.DataFrame", directory: Path, kind: str) -> list[Path]:
    """Draw matrix.<kind>, and overhead.<kind> where something was timed, each if there are buggy programs; the files.

    `outcomes` and `scores` are the tables of evaluation.scoring.scores.
    """
    paths = [_matrix(outcomes, scores, directory / f"matrix.{kind}")] if (outcomes.kind == "buggy").any() else []
    timed = scores[scores.overhead.notna() & scores.paired_rate.notna()]
    return paths if timed.empty else [*paths, _overhead(timed, directory / f"overhead.{kind}")]


def _matrix(outcomes: "pd.DataFrame", scores: "pd.DataFrame", path: Path) -> Path:
    buggy = outcomes[outcomes.kind == "buggy"]
    cases = sorted(set(zip(buggy.bug, buggy.case, buggy.benign, strict=True)))
    rows = [*(f"{bug}/{case}" + (" (benign)" if benign else "") for bug, case, benign in cases), "controls"]
    columns = [label(row) for _, row in scores.iterrows()]
    with styled():
        figure = new_figure(1)
        # Not narrower than the legend.
        figure.set_size_inches(max(10.0, 3.4 + CELL_INCHES[0] * len(columns)), 2.4 + CELL_INCHES[1] * len(rows))
        axes = figure.subplots()
        for x, (_, row) in enumerate(scores.iterrows()):
            mine = outcomes[(outcomes[ROW] == row[ROW]).all(axis=1)]
            for y, (bug, case, _) in enumerate(cases):
                _cell(axes, x, y, *_outcome(mine[(mine.bug == bug) & (mine.case == case)]))
            _cell(axes, x, len(cases), *_controls(row))
        _label(axes, columns, rows)
        _legend(axes)
        return save(figure, path)


def _outcome(mine: "pd.DataFrame") -> tuple[str, str]:
    """The state and the text of a cell: the outcome of a case, over all seeds."""
    buggy, fixed = mine[mine.kind == "buggy"], mine[mine.kind == "fixed"]
    if buggy.empty:
        return "did not run", ""
    if (buggy.status != "ok").any():
        return "did not run", str(buggy.status[buggy.status != "ok"].iloc[0]).replace("_", " ")
    accused = bool(fixed.alarmed.any())
    if not buggy.alarmed.any():
        return ("false alarm" if accused else "silent"), ("fixed only" if accused else "")
    delays = buggy.delay.dropna()
    text = "static" if delays.empty else f"{delays.median():+g}"
    count = f"{buggy.alarmed.sum()}/{len(buggy)}\n" if len(buggy) > 1 else ""
    return ("also on fixed" if accused else "found"), count + text


def _controls(row: Any) -> tuple[str, str]:
    if not row["false_controls_n"]:
        return "did not run", ""
    state = "false alarm" if row["false_controls"] else "silent"
    return state, f"{row['false_controls']}/{row['false_controls_n']}"


def _cell(axes: "Axes", x: float, y: float, state: str, text: str) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, color=OUTCOMES[state], linewidth=0))
    axes.text(x, y, text, ha="center", va="center", fontsize=7)


def _label(axes: "Axes", columns: list[str], rows: list[str]) -> None:
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xticks(range(len(columns)), columns, rotation=60, ha="left", rotation_mode="anchor", fontsize=8)
    axes.set_yticks(range(len(rows)), rows)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for side in axes.spines.values():
        side.set_visible(False)


def _legend(axes: "Axes") -> None:
    from matplotlib.patches import Patch

    handles = [Patch(color=colour, label=state) for state, colour in OUTCOMES.items()]
    axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=len(handles), fontsize=8)
    text = "in a cell: iterations from the trigger to the first alarm (controls: programs accused)"
    axes.set_xlabel(text, labelpad=28)


def _overhead(timed: "pd.DataFrame", path: Path) -> Path:
    """One point for each detector and kind of references, for its best rule: all its rules cost the same."""
    best = timed.sort_values("paired_rate", ascending=False, kind="stable").drop_duplicates(["detector", "references"])
    best = best.sort_values(["paired_rate", "overhead"])
    with styled():
        figure = new_figure(1)
        figure.set_size_inches(PANEL_INCHES[0] * 1.5, PANEL_INCHES[1] * 1.2)
        axes = figure.subplots()
        axes.plot(best.overhead, best.paired_rate, "o", color=SINGLE[0])
        previous, lifted = None, 0
        for _, row in best.iterrows():
            crowded = previous is not None and row.paired_rate == previous[1] and row.overhead < CROWDED * previous[0]
            lifted, previous = (lifted + 1 if crowded else 0), (row.overhead, row.paired_rate)
            axes.annotate(label(row), previous, (4, 4 + 10 * lifted), textcoords="offset points", fontsize=8)
        axes.set_xscale("log")
        axes.set_xticks([tick for tick in TICKS if tick < 1.6 * best.overhead.max()])
        axes.set_xticks([], minor=True)
        axes.xaxis.set_major_formatter("{x:g}")
        axes.set_xlim(0.95, 1.7 * best.overhead.max())
        axes.axvline(1, color="grey", linewidth=0.8)
        axes.set_ylim(-0.03, max(0.3, 1.15 * best.paired_rate.max()))
        axes.set_xlabel(f"training seconds, watched / bare ({best.overhead_on.iloc[0]})")
        axes.set_ylabel("paired detection rate")
        return save(figure, path)
