"""Every case and every detector on one page, with the delays of hits and the reasons why a check
has no answer.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluation.scoring.scores import ROW, label
from plots.style import OUTCOMES, bare_grid, column, new_figure, save

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# A page of a paper within its margins. The page grows if there are more cells: their size stays.
PAGE_INCHES = (7.2, 9.6)
# Dots an inch, enough for the smallest text: a page of all detectors and cases has many dots
# anyway.
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
    names = [_case_name(*case) for case in cases]
    names.append("controls")
    width = MARGIN_INCHES[0] + CELL_INCHES[0] * len(scores)
    height = MARGIN_INCHES[1] + CELL_INCHES[1] * len(names)
    with column(DOTS):
        figure = new_figure(1)
        figure.set_size_inches(max(PAGE_INCHES[0], width), max(PAGE_INCHES[1], height))
        axes = figure.subplots()
        for x, (_, row) in enumerate(scores.iterrows()):
            answers = outcomes[(outcomes[ROW] == row[ROW]).all(axis=1)]
            by_case = dict(list(answers.groupby(["bug", "case"])))
            for y, (bug, case, _) in enumerate(cases):
                _cell(axes, x, y, *outcome(by_case.get((bug, case))))
            _cell(axes, x, len(cases), *_controls(row))
        detectors = [label(row) for _, row in scores.iterrows()]
        _label(axes, detectors, names)
        return save(figure, path)


def _case_name(bug: str, case: str, benign: bool) -> str:
    return f"{bug}/{case} (benign)" if benign else f"{bug}/{case}"


def outcome(answers: "pd.DataFrame | None") -> tuple[str, str]:
    """The state and the text of a case's cell, over all seeds.

    `answers` is None for a case that the detector did not meet.
    """
    if answers is None:
        return "not met", ""
    buggy = answers[answers.kind == "buggy"]
    fixed = answers[answers.kind == "fixed"]
    if buggy.empty:
        return "not met", ""
    failures = buggy.status[buggy.status != "ok"]
    if not failures.empty:
        return "no answer", SHORT[failures.iloc[0]]
    accused = bool(fixed.alarmed.any())
    if buggy.alarmed.any():
        return _alarm_state(buggy, accused), _alarm_text(buggy)
    return ("false alarm" if accused else "silent"), ""


def _alarm_state(buggy: "pd.DataFrame", accused: bool) -> str:
    """The state of a case with an alarm on a buggy program; `accused`:
    a fixed twin has an alarm too.
    """
    if accused:
        return "also on fixed"
    if buggy.early[buggy.alarmed].all():
        return "early"
    return "found"


def _alarm_text(buggy: "pd.DataFrame") -> str:
    """How many of several seeds have an alarm; for a single seed the delay of its alarm."""
    if len(buggy) > 1:
        return f"{buggy.alarmed.sum()}/{len(buggy)}"
    delays = buggy.delay.fillna(buggy.claimed_delay).dropna()
    return "" if delays.empty else f"{int(delays.iloc[0]):+d}"


def _controls(row: Any) -> tuple[str, str]:
    if not row["false_controls_n"]:
        return "not met", ""
    state = "false alarm" if row["false_controls"] else "silent"
    return state, f"{row['false_controls']}"


def _cell(axes: "Axes", x: float, y: float, state: str, text: str) -> None:
    from matplotlib.patches import Rectangle

    corner = (x - 0.47, y - 0.46)
    axes.add_patch(Rectangle(corner, 0.94, 0.92, facecolor=OUTCOMES[state], linewidth=0))
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
    text = (
        "number: iterations from the trigger to the first alarm (none: the alarm has no "
        "iteration); controls accused"
    )
    axes.set_xlabel(text, labelpad=18, fontsize=6.5, x=0.4)
