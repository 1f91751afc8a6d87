"""Two scripts side by side: the lines that differ, with some around them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, TypeAlias

from trainbugs.website.code import lines

CONTEXT = 4
# The kind of a change, and which lines it has on the left and on the right.
Opcode: TypeAlias = tuple[str, int, int, int, int]
Kind = Literal["same", "changed", "removed", "added", "gap"]


@dataclass(frozen=True)
class DiffRow:
    """A line on each side, highlighted, with its number from 1; None where a side has none.

    A row of kind `gap` stands for lines that are left out, `count` on each side.
    """

    kind: Kind
    left: tuple[int, str] | None = None
    right: tuple[int, str] | None = None
    count: int = 0


def rows(left: str, right: str) -> list[DiffRow]:
    """The rows of two scripts; empty where they are the same."""
    texts = (left.splitlines(), right.splitlines())
    groups = _changed_groups(*texts)
    if not groups:
        return []
    *_, left_end, _, right_end = groups[-1][-1]
    # Highlighting is most of the time of a page, and what follows the last change is not shown.
    sides = (_highlighted(texts[0][:left_end]), _highlighted(texts[1][:right_end]))
    shown_rows: list[DiffRow] = []
    shown = 0
    for group in groups:
        start, end = group[0][1], group[-1][2]
        if start > shown:
            shown_rows.append(DiffRow("gap", count=start - shown))
        for opcode in group:
            shown_rows += _opcode_rows(opcode, sides)
        shown = end
    hidden = len(texts[0]) - shown
    if hidden > 0:
        shown_rows.append(DiffRow("gap", count=hidden))
    return shown_rows


def _changed_groups(left: Sequence[str], right: Sequence[str]) -> list[list[Opcode]]:
    """The runs of lines that differ, with CONTEXT lines around each."""
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    return [group for group in matcher.get_grouped_opcodes(CONTEXT) if _differs(group)]


def _differs(group: Sequence[Opcode]) -> bool:
    """Whether some lines of a group are not the same on both sides."""
    return any(tag != "equal" for tag, *_ in group)


def _highlighted(start: Sequence[str]) -> list[str]:
    """The first lines of a script, highlighted."""
    return lines("".join(f"{line}\n" for line in start))


def _opcode_rows(opcode: Opcode, sides: tuple[Sequence[str], Sequence[str]]) -> Iterator[DiffRow]:
    tag, start, end, other_start, other_end = opcode
    for offset in range(max(end - start, other_end - other_start)):
        left = _line(sides[0], start + offset, end)
        right = _line(sides[1], other_start + offset, other_end)
        yield DiffRow("same" if tag == "equal" else _changed_kind(left, right), left, right)


def _changed_kind(left: tuple[int, str] | None, right: tuple[int, str] | None) -> Kind:
    if left and right:
        return "changed"
    return "removed" if left else "added"


def _line(side: Sequence[str], index: int, end: int) -> tuple[int, str] | None:
    return (index + 1, side[index]) if index < end else None
