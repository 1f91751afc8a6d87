"""Two scripts side by side: the lines that differ, with some around them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from trainbugs.website.code import lines

CONTEXT = 4
Kind = Literal["same", "changed", "removed", "added", "gap"]


@dataclass(frozen=True)
class Row:
    """A line on each side, highlighted, with its number from 1; None where a side has none.

    A row of kind `gap` stands for lines that are left out, `count` on each side.
    """

    kind: Kind
    left: tuple[int, str] | None = None
    right: tuple[int, str] | None = None
    count: int = 0


def rows(left: str, right: str) -> list[Row]:
    """The rows of two scripts; empty where they are the same."""
    matcher = SequenceMatcher(None, left.splitlines(), right.splitlines(), autojunk=False)
    sides = (lines(left), lines(right))
    made: list[Row] = []
    shown = 0
    for group in matcher.get_grouped_opcodes(CONTEXT):
        if all(tag == "equal" for tag, *_ in group):
            continue
        if group[0][1] > shown:
            made.append(Row("gap", count=group[0][1] - shown))
        for opcode in group:
            made += _of(opcode, sides)
        shown = group[-1][2]
    rest = len(sides[0]) - shown
    return [*made, Row("gap", count=rest)] if made and rest > 0 else made


def _of(
    opcode: tuple[str, int, int, int, int], sides: tuple[Sequence[str], Sequence[str]]
) -> Iterator[Row]:
    tag, start, end, other_start, other_end = opcode
    for offset in range(max(end - start, other_end - other_start)):
        left = _line(sides[0], start + offset, end)
        right = _line(sides[1], other_start + offset, other_end)
        kind: Kind = (
            "same"
            if tag == "equal"
            else "changed"
            if left and right
            else "removed"
            if left
            else "added"
        )
        yield Row(kind, left, right)


def _line(side: Sequence[str], index: int, end: int) -> tuple[int, str] | None:
    return (index + 1, side[index]) if index < end else None
