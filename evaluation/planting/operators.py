"""All operators, and faulty programs made by them."""

import ast
from dataclasses import dataclass

from evaluation.planting import of_calls, of_gradients, of_losses
from evaluation.planting.edits import Operator
from evaluation.rewriting import choice
from evaluation.rewriting.layout import parsed, written

OPERATORS: tuple[Operator, ...] = (
    *of_calls.OPERATORS,
    *of_gradients.OPERATORS,
    *of_losses.OPERATORS,
)


@dataclass(frozen=True)
class Planted:
    """A faulty program, made of a clean one by an operator; `line` is where the fault is, None where it has no line."""

    operator: Operator
    text: str
    line: int | None


def plant(text: str, operator: Operator, seed: int) -> Planted | None:
    """The program with the fault in one of the places where it fits, by the seed; None where there is none.

    Raises RewriteError for what cannot be parsed or written anew.
    """
    tree = parsed(text)
    edits = list(operator.edits(tree))
    if not edits:
        return None
    edit = choice.one(seed, edits, operator.name, text)
    edit.make()
    faulty = written(tree)
    return Planted(operator, faulty.text, faulty.lines.get(edit.line))


def fitting(text: str, seed: int, known: str | None = None) -> list[Planted]:
    """The programs that the operators make of a clean one, in an order by the seed.

    Left out is the one that is the published faulty program, `known`.
    """
    dump = ast.dump(parsed(known)) if known else None
    ordered = sorted(
        OPERATORS, key=lambda operator: choice.number(seed, "operator", operator.name, text)
    )
    planted = [each for operator in ordered if (each := plant(text, operator, seed))]
    return [each for each in planted if ast.dump(parsed(each.text)) != dump]
