"""What was seen, as a text: a table, and below each row what it means."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from evaluation.watching.report import WatchedAlarm
from evaluation.watching.silencing import Silencing
from evaluation.watching.wording import HEADING, entries, hints, summary

NAME = "trainbugs"
WIDTH = 120
GAP = "  "
# How a program silences an invariant.
ARGUMENT = "ignore={!r}"


def report_text(
    silencing: Silencing,
    ignored: Sequence[str],
    with_advice: bool,
    silencer: str = ARGUMENT,
    known: Sequence[str] = (),
) -> str:
    """The lines that tell a report; `silencer` is what silences an invariant, to be formatted, and
    `known` are the names of all invariants.
    """
    report = silencing.audible
    lines = [f"{NAME}: {summary(silencing, ignored)}"]
    lines += _table(report.broken, silencing.folder, silencer)
    if with_advice and report.advice:
        lines.append(f"{NAME}: advice, for what it names may be meant:")
        lines += _table(report.advice, silencing.folder, silencer)
    lines += [f"{NAME}: {hint}" for hint in hints(silencing, known)]
    lines += [f"{NAME}: a fault of the sanitizer: {failure}" for failure in report.failures]
    return "\n".join(lines)


def _table(alarms: Sequence[WatchedAlarm], folder: str, silencer: str) -> Iterator[str]:
    """A table with a text below each row."""
    if not alarms:
        return
    rows = entries(alarms, folder)
    cells = [
        (*entry.row[:-1], silencer.format(alarm.code))
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
