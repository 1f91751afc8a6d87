"""Programs as detectors look at them: a run of a bug or a control, the neutral names of its files, its bare run."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from evaluation.model import CONTROL, Kind
from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.execution.run import Run
from runner.fields import Record, Scalar

# Of a program that is laid out: what it is called, and how it is called.
SCRIPT, ARGUMENTS = "program.py", ("config.json",)


def seeds_of(case: Case, named: Sequence[int] | None, every: bool) -> Sequence[int]:
    """The seeds with which detectors meet a case: those that are named, or its first one, or every one.

    A case that needs data takes minutes: of every one it has the first.
    """
    return named or case.program.seeds[: None if every and not case.program.data else 1]


def program_digest(files: Mapping[str, bytes], parameters: Mapping[str, Scalar]) -> str:
    """A hash of a program: its files, by their neutral names, and the parameters that it reads."""
    texts = [[name, hashlib.sha256(text).hexdigest()] for name, text in sorted(files.items())]
    return hashlib.sha256(
        json.dumps([texts, dict(parameters)], sort_keys=True).encode()
    ).hexdigest()


@dataclass(frozen=True)
class Subject:
    """A program as detectors look at it: a variant of a bug's case, or a control. The run holds scripts and runtime."""

    bug: Bug
    run: Run

    @property
    def case(self) -> Case:
        return self.run.case

    @property
    def kind(self) -> Kind:
        return CONTROL if self.bug.id == CONTROL else cast("Kind", self.run.variant)

    @property
    def files(self) -> Mapping[str, bytes]:
        """What a detector may see, under neutral names: the script as program.py, and what it imports."""
        script = self.case.program.variants[self.run.variant].script.name
        shared = {name: text for name, text in self.run.scripts.items() if name != script}
        return shared | {SCRIPT: self.run.scripts[script]}

    @property
    def digest(self) -> str:
        """A hash of the program: its files and parameters, by their neutral names."""
        return program_digest(self.files, self.run.parameters)

    def lay_out(self, directory: Path) -> None:
        """Write the files into a new directory, with the parameters in a config.json beside them."""
        directory.mkdir(parents=True)
        for name, text in self.files.items():
            (directory / name).write_bytes(text)
        parameters = json.dumps({"parameters": self.run.parameters}, indent=1)
        (directory / "config.json").write_text(parameters, encoding="utf-8")


@dataclass(frozen=True, eq=False)
class Sample:
    """A subject that ends well by itself. `metrics` are its records, `losses` one loss an iteration, of a bare run.

    `seconds` is what the bare run took.
    """

    subject: Subject
    metrics: Sequence[Record] | None = None
    losses: Sequence[Mapping[str, Any]] | None = None
    seconds: float | None = None
