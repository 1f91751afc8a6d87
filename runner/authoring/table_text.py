"""Tables in Markdown: their cells, and the same text with other numbers in them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

BORDER = re.compile(r"\|(\s*:?-+:?\s*\|)+")
FENCE = re.compile(r"(```|~~~)")
CELL_BORDER = re.compile(r"(?<!\\)\|")
BOLD = "**"
# A number or a word between blanks and signs of bold text.
WORD = re.compile(r"[^\s*]+")


@dataclass(frozen=True)
class MarkdownTable:
    """A table: the number of its first line, from 1, and the cells of its lines,
    that with the headings first.
    """

    line: int
    header: str
    lines: tuple[tuple[str, ...], ...]

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of the columns."""
        return self.lines[0]

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The rows; the first cell says what a row is about."""
        return self.lines[1:]

    @property
    def end(self) -> int:
        """The number of its last line."""
        return self.line + len(self.lines)

    def row_line(self, row: int) -> int:
        """The number of the line of a row, which counts from 0."""
        return self.line + 2 + row


def find_tables(text: str) -> Iterator[MarkdownTable]:
    """The tables of a text, in order; blocks of code are left out."""
    lines = text.splitlines()
    code = False
    index = 0
    while index < len(lines):
        if FENCE.match(lines[index]):
            code = not code
        border = lines[index + 1] if index + 1 < len(lines) else ""
        if code or not lines[index].startswith("|") or not BORDER.fullmatch(border.rstrip()):
            index += 1
            continue
        end = index + 2
        while end < len(lines) and lines[end].startswith("|"):
            end += 1
        table_lines = [lines[index], *lines[index + 2 : end]]
        cells = tuple(tuple(split_cells(line)) for line in table_lines)
        yield MarkdownTable(index + 1, lines[index].strip(), cells)
        index = end


def split_cells(line: str) -> list[str]:
    """The cells of a line, without blanks around them."""
    return [part.strip() for part in CELL_BORDER.split(line.strip())[1:-1]]


def plain(cell: str) -> str:
    """The text of a cell without the signs of bold text."""
    return " ".join(WORD.findall(cell))


def with_words(cell: str, words: Sequence[str]) -> str:
    """The cell with other words: what is bold stays so, word by word, or as a whole."""
    if len(WORD.findall(cell)) == len(words):
        remaining = iter(words)
        return WORD.sub(lambda _: next(remaining), cell)
    text = " ".join(words)
    is_bold = cell.startswith(BOLD) and cell.endswith(BOLD) and cell.count(BOLD) == 2
    return f"{BOLD}{text}{BOLD}" if is_bold else text


def with_cells(text: str, cells: Mapping[tuple[int, int], str]) -> str:
    """The text with other cells, by the number of the line, from 1, and that of the column,
    from 0.
    """
    lines = text.splitlines(keepends=True)
    for (line, column), cell in cells.items():
        parts = CELL_BORDER.split(lines[line - 1])
        old = parts[column + 1]
        before, after = (old[: len(old) - len(old.lstrip())], old[len(old.rstrip()) :])
        parts[column + 1] = f"{before}{cell}{after}" if old.strip() else f" {cell} "
        lines[line - 1] = "|".join(parts)
    return "".join(lines)
