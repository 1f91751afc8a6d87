"""Every case and every detector on one page, with the delays of hits and the reasons why a check has no answer."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.scoring.scores import ROW, label
from plots.style import OUTCOMES, bare_grid, column, new_figure, save

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# A page of a paper within its margins; where there is more on it, cells keep this size and it grows.
PAGE_INCHES = (7.2, 9.6)
# Enough for its smallest text: a page of all detectors and cases has many dots as it is.
DOTS = 150
CELL_INCHES, MARGIN_INCHES = (0.23, 0.2), (1.6, 1.9)
SHORT = {
    "unsupported": "n/a",
    "tool_error": "err",
    "timeout": "time",
    "peeked": "peek",
    "disturbed": "dist",
}


def draw_page(outcomes: "pd.DataFrame", scores: "pd.DataFrame", path: Path) -> Path:
    """Draw a cell for each case and row of the scores, over all seeds."""
    buggy = outcomes[outcomes.kind == "buggy"]
    cases = sorted(set(zip(buggy.bug, buggy.case, buggy.benign, strict=True)))
    names = [
        *(f"{bug}/{case}" + (" (benign)" if benign else "") for bug, case, benign in cases),
        "controls",
    ]
    needed = (
        MARGIN_INCHES[0] + CELL_INCHES[0] * len(scores),
        MARGIN_INCHES[1] + CELL_INCHES[1] * len(names),
    )
    with column(DOTS):
        figure = new_figure(1)
        figure.set_size_inches(max(PAGE_INCHES[0], needed[0]), max(PAGE_INCHES[1], needed[1]))
        axes = figure.subplots()
        for x, (_, row) in enumerate(scores.iterrows()):
            answers = outcomes[(outcomes[ROW] == row[ROW]).all(axis=1)]
            by_case = dict(list(answers.groupby(["bug", "case"])))
            for y, (bug, case, _) in enumerate(cases):
                _cell(axes, x, y, *outcome(by_case.get((bug, case))))
            _cell(axes, x, len(cases), *_controls(row))
        _label(axes, [label(row) for _, row in scores.iterrows()], names)
        return save(figure, path)


def outcome(answers: "pd.DataFrame | None") -> tuple[str, str]:
    """The state and the text of a cell: of a case, over all seeds; None for one that the detector did not meet."""
    if answers is None or not (answers.kind == "buggy").any():
        return "not met", ""
    buggy, fixed = answers[answers.kind == "buggy"], answers[answers.kind == "fixed"]
    if (buggy.status != "ok").any():
        return "no answer", SHORT[buggy.status[buggy.status != "ok"].iloc[0]]
    accused = bool(fixed.alarmed.any())
    if not buggy.alarmed.any():
        return ("false alarm" if accused else "silent"), ""
    state = "also on fixed" if accused else "early" if buggy.early[buggy.alarmed].all() else "found"
    if len(buggy) > 1:
        return state, f"{buggy.alarmed.sum()}/{len(buggy)}"
    delays = buggy.delay.fillna(buggy.claimed_delay).dropna()
    return state, "" if delays.empty else f"{int(delays.iloc[0]):+d}"


def _controls(row: Any) -> tuple[str, str]:
    if not row["false_controls_n"]:
        return "not met", ""
    return ("false alarm" if row["false_controls"] else "silent"), f"{row['false_controls']}"


def _cell(axes: "Axes", x: float, y: float, state: str, text: str) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(
        Rectangle((x - 0.47, y - 0.46), 0.94, 0.92, facecolor=OUTCOMES[state], linewidth=0)
    )
    axes.text(x, y, text, ha="center", va="center_baseline", fontsize=5)


def _label(axes: "Axes", columns: list[str], rows: list[str]) -> None:
    from matplotlib.patches import Patch

    bare_grid(axes)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xticks(
        range(len(columns)), columns, rotation=60, ha="left", rotation_mode="anchor", fontsize=6.5
    )
    axes.set_yticks(range(len(rows)), rows, fontsize=6.5)
    axes.xaxis.tick_top()
    handles = [
        Patch(facecolor=colour, label=state, edgecolor="#BBBBBB")
        for state, colour in OUTCOMES.items()
    ]
    axes.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.4, -0.035),
        ncols=len(handles),
        fontsize=6.5,
    )
    text = "number: iterations from the trigger to the first alarm (none: the alarm has no iteration); controls accused"
    axes.set_xlabel(text, labelpad=18, fontsize=6.5, x=0.4)
