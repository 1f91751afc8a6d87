"""The cases of the experiment, each declared before its own results,
and the choices that are compared.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# Seeds: of the references, of the clean run that is held out, and of the two programs that are
# checked.
REFERENCES, HELD_OUT, CHECKED = (1, 2, 3, 4, 5, 6), 7, 0
# How many references invariants are inferred from.
COUNTS = (1, 2, 4, 6)
# What detectors/traincheck does: two references, the first ten steps and every tenth, only what
# invariants need.
SAMPLED_COUNT = 2
SAMPLING = ("--sampling-interval", "10", "--warm-up-steps", "10")


@dataclass(frozen=True)
class Declared:
    """A case, what shortens its program and why, the variables that hold models,
    and the minutes that it may take.

    Invariants are inferred from `counts` references; with `sampled` the same is done as
    detectors/traincheck does it. `tracker` is TrainCheck's way to follow a model; the first is its
    default. `edits` are texts and what stands in their places in the programs that are traced, both
    variants. `not_run` is why there was no time for it.
    """

    case: str
    parameters: dict[str, Any]
    models: tuple[str, ...]
    why: str
    budget_minutes: float
    counts: tuple[int, ...] = COUNTS
    sampled: bool = True
    tracker: str = "proxy"
    edits: tuple[tuple[str, str], ...] = ()
    not_run: str | None = None

    @property
    def folder(self) -> str:
        return self.case.replace("/", "-")

    @property
    def references(self) -> tuple[int, ...]:
        """The seeds of the references that are traced."""
        return REFERENCES[: max(self.counts)]


def cases() -> list[Declared]:
    """In the order of cases.json, in which they run."""
    described = json.loads((HERE / "cases.json").read_text())
    return [_declared(case) for case in described]


def _declared(case: dict[str, Any]) -> Declared:
    values = {name: _frozen(value) for name, value in case.items()}
    return Declared(**values)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
