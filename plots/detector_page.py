"""Every case and every detector on one page, with the delays of hits and the reasons why a check
has no answer.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evaluation.scoring.case_state import ABSENT, EARLY, UNPAIRED, case_state
from evaluation.scoring.outcomes import ROW, label
from plots.style import OUTCOMES, bare_grid, new_figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# A page of a paper within its margins. The page grows if there are more cells: their size stays.
PAGE_INCHES = (7.2, 9.6)
# Dots an inch, enough for the smallest text: a page of all detectors and cases has many dots
# anyway.
DOTS = 100
CELL_INCHES, MARGIN_INCHES = (0.23, 0.2), (1.6, 1.9)
# Of the answers, what a cell tells.
COLUMNS = ["bug", "case", "kind", "status", "alarmed", "early", "delay", "claimed_delay"]
# The words of the legend, where they are other ones.
WORDS = {EARLY: "early", ABSENT: "no answer"}
SHORT = {
    "unsupported": "n/a",
    "tool_error": "err",
    "timeout": "time",
    "peeked": "peek",
    "disturbed": "dist",
}


def page_figure(outcomes: "pd.DataFrame", scores: "pd.DataFrame") -> "Figure":
    """A cell for each case and row of the scores, over all seeds."""
    buggy = outcomes[outcomes.kind == "buggy"]
    cases = sorted(set(zip(buggy.bug, buggy.case, buggy.benign, strict=True)))
    names = [_case_name(*case) for case in cases]
    names.append("controls")
    width = MARGIN_INCHES[0] + CELL_INCHES[0] * len(scores)
    height = MARGIN_INCHES[1] + CELL_INCHES[1] * len(names)
    figure = new_figure(1)
    figure.set_size_inches(max(PAGE_INCHES[0], width), max(PAGE_INCHES[1], height))
    axes = figure.subplots()
    states: set[str] = set()
    for x, (_, row) in enumerate(scores.iterrows()):
        answers = outcomes[(outcomes[ROW] == row[ROW]).all(axis=1)]
        by_case = _by_case(answers)
        for y, (bug, case, _) in enumerate(cases):
            state, text = outcome(by_case.get((bug, case), ()))
            states.add(state)
            _cell(axes, x, y, state, text)
        _cell(axes, x, len(cases), *_controls(row))
    detectors = [label(row) for _, row in scores.iterrows()]
    _label(axes, detectors, names, states)
    return figure


def _case_name(bug: str, case: str, benign: bool) -> str:
    return f"{bug}/{case} (benign)" if benign else f"{bug}/{case}"


def _by_case(answers: "pd.DataFrame") -> dict[tuple[str, str], list[Any]]:
    """The answers by bug and case, as tuples: to ask a table for each cell takes most of the time
    that the page takes.
    """
    by_case: dict[tuple[str, str], list[Any]] = {}
    for answer in answers[COLUMNS].itertuples(index=False):
        case = (str(answer.bug), str(answer.case))
        by_case.setdefault(case, []).append(answer)
    return by_case


def outcome(answers: Sequence[Any]) -> tuple[str, str]:
    """The state and the text of a case's cell, over all seeds.

    There are no `answers` for a case that the detector did not meet.
    """
    buggy = [answer for answer in answers if answer.kind == "buggy"]
    if not buggy:
        return "not met", ""
    state = case_state(buggy, [answer for answer in answers if answer.kind == "fixed"])
    name = WORDS.get(state, state)
    if state == ABSENT:
        failures = [answer.status for answer in buggy if answer.status != "ok"]
        return name, SHORT[failures[0]]
    has_alarm = any(answer.alarmed for answer in buggy)
    return name, _alarm_text(buggy) if has_alarm else ""


def _alarm_text(buggy: Sequence[Any]) -> str:
    """How many of several seeds have an alarm; for a single seed the delay of its alarm."""
    if len(buggy) > 1:
        return f"{sum(answer.alarmed for answer in buggy)}/{len(buggy)}"
    (answer,) = buggy
    known = [delay for delay in (answer.delay, answer.claimed_delay) if _is_number(delay)]
    return f"{int(known[0]):+d}" if known else ""


def _is_number(value: Any) -> bool:
    """Whether a cell of the table is not empty."""
    import pandas as pd

    return not pd.isna(value)


def _controls(row: Any) -> tuple[str, str]:
    if not row["false_controls_n"]:
        return "not met", ""
    state = "false alarm" if row["false_controls"] else "silent"
    return state, f"{row['false_controls']}"


def _cell(axes: "Axes", x: float, y: float, state: str, text: str) -> None:
    from matplotlib.patches import Rectangle

    corner = (x - 0.47, y - 0.46)
    cell = Rectangle(corner, 0.94, 0.92, facecolor=OUTCOMES[state], linewidth=0)
    # `add_patch` would also widen the limits of the axes, which are set later.
    axes.add_artist(cell)
    if text:
        axes.text(x, y, text, ha="center", va="center_baseline", fontsize=5)


def _label(axes: "Axes", columns: list[str], rows: list[str], states: set[str]) -> None:
    """Name columns and rows, and explain the colours; the rare one only where a cell has it."""
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
        if state != UNPAIRED or state in states
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
