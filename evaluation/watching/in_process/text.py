"""What was seen, as a text: a table, and below each row what it means."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from evaluation.watching.report import WatchedAlarm
from evaluation.watching.silencing import Silencing
from evaluation.watching.wording import HEADING, entries, summary

NAME = "trainbugs"
WIDTH = 120
GAP = "  "


def report_text(silencing: Silencing, ignored: Sequence[str], with_advice: bool) -> str:
    """The lines that tell a report."""
    report = silencing.audible
    lines = [f"{NAME}: {summary(silencing, ignored)}"]
    lines += _table(report.broken, silencing.folder)
    if with_advice and report.advice:
        lines.append(f"{NAME}: advice, for what it names may be meant:")
        lines += _table(report.advice, silencing.folder)
    lines += [f"{NAME}: a fault of the sanitizer: {failure}" for failure in report.failures]
    return "\n".join(lines)


def _table(alarms: Sequence[WatchedAlarm], folder: str) -> Iterator[str]:
    """A table with a text below each row."""
    if not alarms:
        return
    rows = entries(alarms, folder)
    # In a program `--ignore` is an argument.
    cells = [
        (*entry.row[:-1], f"ignore={alarm.code!r}")
        for entry, alarm in zip(rows, alarms, strict=True)
    ]
    widths = [max(map(len, column)) for column in zip(HEADING, *cells, strict=True)]
    yield _line(HEADING, widths)
    for row, entry in zip(cells, rows, strict=True):
        yield _line(row, widths)
        yield textwrap.fill(entry.text, WIDTH, initial_indent="    ", subsequent_indent="    ")


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    return GAP.join(padded).rstrip()
