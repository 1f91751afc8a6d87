"""Tables and texts for standard output: on a terminal they fit its width,
and verdicts are in colour.
"""

import os
import re
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

from runner.progress.lines import terminal_width
from runner.progress.streams import one_line, raw

Rows = Sequence[Sequence[str]]

# The end of a cell that is cut, and the column that stands for those for which there is no room;
# its heading says how many these are.
MARK = "…"
LEFT_OUT = re.compile(rf"{MARK} \+(\d+)$")
GAP = 2
# A column that is cut to less than this says too little; columns are left out instead, the last one
# first.
LEAST = 24
RESET = "\x1b[0m"
GREEN, YELLOW, RED, CYAN = ("\x1b[32m", "\x1b[33m", "\x1b[1;31m", "\x1b[36m")
# States of versions have colours close to those of the map.
COLOURS = {
    "REPRODUCED": GREEN,
    "NOT REPRODUCED": YELLOW,
    "INVALID": RED,
    "affected": YELLOW,
    "not affected": CYAN,
}
# Whoever reads one of these does not ask why.
GOOD = ("REPRODUCED", "affected", "not affected")
# One or two words before the text of a line, with spaces behind them.
LABEL = re.compile(r"[a-z]+( [a-z]+)? {2,}")
# In a sentence.
COMMAND = re.compile(r"`trainbugs [^`]*`")


@dataclass(frozen=True)
class Terminal:
    """How wide lines may be (None: nothing is cut), and whether colours are wanted."""

    width: int | None
    colours: bool

    @classmethod
    def of(cls, stream: TextIO) -> "Terminal":
        """The terminal behind a stream; COLUMNS, NO_COLOR and TERM=dumb are respected."""
        if not stream.isatty():
            return cls(None, False)
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        return cls(terminal_width(stream), not plain)


def side_stream(as_json: bool) -> TextIO:
    """The stream for what accompanies a table, names of files above all;
    a document stands alone on its own.
    """
    return sys.stderr if as_json else sys.stdout


def show_table(rows: Rows) -> None:
    """Print a table; the first row is the heading."""
    print("\n".join(_with_foot(table(rows, Terminal.of(sys.stdout).width))))


def show_noted(rows: Rows, texts: Sequence[str], stream: TextIO) -> None:
    """Print a table whose rows have a text each, which follows indented;
    the first row is the heading and has none.
    """
    width = Terminal.of(stream).width
    heading, *lines = table(rows, width)
    notes = [_wrapped(f"    {text}", 4, width) for text in texts]
    noted = [heading]
    for line, note in zip(lines, notes, strict=True):
        noted += [line, note]
    print("\n".join(noted), file=stream)


def show_verdicts(rows: Rows, column: int) -> None:
    """Print a table with verdicts or states in one column,
    and the reasons for them in the last one.

    A reason that was cut, and that of no success, follows below the table as a whole.
    """
    terminal = Terminal.of(sys.stdout)
    lines = table(rows, terminal.width, column if terminal.colours else None)
    # Colours are the program's; the cells have been escaped.
    print("\n".join(_with_foot(lines)), file=raw(sys.stdout))
    bad = [
        (row, line)
        for row, line in zip(rows[1:], lines[1:], strict=True)
        if _word(row[column]) not in GOOD
    ]
    reasons = [f"{' '.join(row[:column])}: {row[-1]}" for row, line in bad if row[-1] not in line]
    for text in ["", *reasons] if reasons else []:
        print(_wrapped(text, 2, terminal.width))


def show_text(text: str) -> None:
    """Print lines; those that are too long for a terminal go on in the next one,
    between words and indented.
    """
    width = Terminal.of(sys.stdout).width
    for line in text.splitlines():
        label = LABEL.match(line)
        print(_wrapped(line, label.end() if label else len(line) - len(line.lstrip()) + 2, width))


def table(rows: Rows, width: int | None = None, coloured: int | None = None) -> list[str]:
    """Rows as lines with aligned columns, of at most `width` characters;
    the first row is the heading.

    The first column holds the names that one types again and stays whole if possible. The others
    are cut to one width that is as large as possible, between words. Where that is less than LEAST,
    the last ones are left out. The words in the column `coloured` get their colours.
    """
    rows = [_in_one_line(row) for row in rows]
    columns: list[Sequence[str]] = list(zip(*rows, strict=True))
    widths, shown = [max(map(len, column)) for column in columns], rows
    if width is not None and sum(widths) + GAP * (len(widths) - 1) > width:
        columns, widths = _fitted(columns, widths, width)
        shown = list(zip(*columns, strict=True))
    # One format string for all rows, which is fast: a table of runs may have 100,000.
    line = (" " * GAP).join(f"%-{most}s" for most in widths)
    lines = [(line % tuple(row)).rstrip() for row in shown]
    if coloured is None:
        return lines
    start = sum(widths[:coloured]) + GAP * coloured
    return [
        _in_colour(text, start, _word(row[coloured])) for text, row in zip(lines, rows, strict=True)
    ]


def _in_one_line(row: Sequence[str]) -> Sequence[str]:
    """The cells as they can be printed; nearly all rows are as they are,
    which is found out fast.
    """
    return row if "".join(row).isprintable() else [one_line(cell) for cell in row]


def _fitted(
    columns: Sequence[Sequence[str]], widths: Sequence[int], width: int
) -> tuple[list[Sequence[str]], list[int]]:
    """The columns as they are shown, and their widths;
    one more stands for those that are left out.
    """
    fitting = _fitting(widths, width)
    cut: list[Sequence[str]] = [
        _cut(column, most) for column, most in zip(columns, fitting, strict=False)
    ]
    if len(cut) == len(columns):
        return cut, fitting
    heading = _heading(len(columns) - len(cut))
    return [*cut, [heading, *[MARK] * (len(columns[0]) - 1)]], [*fitting, len(heading)]


def _fitting(widths: Sequence[int], width: int) -> list[int]:
    """The widths of the columns that fit, from the first one on."""
    for count in range(len(widths), 1, -1):
        further = widths[1:count]
        mark = GAP + len(_heading(len(widths) - count)) if count < len(widths) else 0
        room = width - widths[0] - GAP * len(further) - mark
        # The largest width first.
        for most in range(width - 1, LEAST - 1, -1):
            limited = [min(most, needed) for needed in further]
            if sum(limited) <= room:
                return [widths[0], *limited]
    return [max(1, min(widths[0], width - GAP - len(_heading(len(widths) - 1))))]


def _heading(missing: int) -> str:
    return f"{MARK} +{missing}"


def _with_foot(lines: Sequence[str]) -> list[str]:
    """The lines of a table, and one that says what to do where columns are left out."""
    left_out = LEFT_OUT.search(lines[0])
    if left_out is None:
        return list(lines)
    columns = "1 column does" if left_out[1] == "1" else f"{left_out[1]} columns do"
    return [*lines, f"{columns} not fit: pipe into cat, or --json"]


def _cut(column: Sequence[str], most: int) -> list[str]:
    return [cell if len(cell) <= most else _shortened(cell, most) for cell in column]


def _shortened(cell: str, most: int) -> str:
    """The first words of a cell, or of a long word its first letters."""
    letters = cell[: most - len(MARK)]
    words = cell[: most - len(MARK) + 1].rpartition(" ")[0]
    shortened = words if len(words) > most // 2 else letters
    return shortened.rstrip() + MARK


def _word(cell: str) -> str:
    """The verdict in a cell, without what stands in brackets after it."""
    return cell.partition(" (")[0]


def _in_colour(line: str, start: int, word: str) -> str:
    end = start + len(word)
    if word not in COLOURS or line[start:end] != word:  # the column may be left out
        return line
    return f"{line[:start]}{COLOURS[word]}{word}{RESET}{line[end:]}"


def _wrapped(line: str, hanging: int, width: int | None) -> str:
    if width is None or len(line) <= width:
        return line
    # A path or a command that is broken could not be copied.
    whole = re.sub(COMMAND, lambda match: match[0].replace(" ", "\0"), line)
    lines = textwrap.fill(
        whole,
        width,
        subsequent_indent=" " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines.replace("\0", " ")
