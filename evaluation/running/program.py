"""Programs as they are shown to detectors: a run of a bug or a control under neutral names,
and its bare run.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from evaluation.keys import program_digest
from evaluation.model import CONTROL, SCRIPT, Kind
from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.execution.run import Run
from runner.field_types import Record


def select_seeds(case: Case, seeds: Sequence[int] | None, every: bool) -> Sequence[int]:
    """The seeds with which detectors meet a case: `seeds` if there are some, else its first one,
    or every one.

    A case that needs data takes minutes: only its first seed counts.
    """
    if seeds:
        return seeds
    if every and not case.program.data:
        return case.program.seeds
    return case.program.seeds[:1]


@dataclass(frozen=True)
class BareBaseline:
    """A bare run that ended well: its records, its wall seconds,
    and on request one loss an iteration.
    """

    metrics: Sequence[Record] | None = None
    seconds: float | None = None
    losses: Sequence[Mapping[str, Any]] | None = None


@dataclass(frozen=True, eq=False)
class ShownProgram:
    """A program that is shown to a detector: a variant of a bug's case, or a control.

    `run` holds its scripts and its runtime. There is no `baseline` before the program ran bare, nor
    where that run did not end well.
    """

    bug: Bug
    run: Run
    baseline: BareBaseline | None = None

    @property
    def case(self) -> Case:
        return self.run.case

    @property
    def key(self) -> str:
        """The key of the run."""
        return self.run.key

    @property
    def torch(self) -> str | None:
        """The version of torch that the program runs with."""
        return self.run.runtime.torch

    @property
    def is_control(self) -> bool:
        return self.bug.id == CONTROL

    @property
    def kind(self) -> Kind:
        return CONTROL if self.is_control else cast("Kind", self.run.variant)

    @property
    def name(self) -> str:
        """The name of the program for the user, with its seed."""
        variant = "" if self.is_control else f"/{self.kind}"
        return f"{self.bug.id}/{self.case.name}{variant} seed {self.run.seed}"

    @property
    def script_name(self) -> str:
        """The name of the script in the bug's directory."""
        return self.case.program.variants[self.run.variant].script.name

    @property
    def metrics(self) -> Sequence[Record] | None:
        """The records of the bare run."""
        return self.baseline.metrics if self.baseline else None

    @property
    def losses(self) -> Sequence[Mapping[str, Any]] | None:
        """The losses of the bare run, where they were asked for."""
        return self.baseline.losses if self.baseline else None

    @property
    def files(self) -> Mapping[str, bytes]:
        """The files that a detector may see, under neutral names: the script as program.py,
        and what it imports.
        """
        scripts = self.run.scripts
        shared = {name: text for name, text in scripts.items() if name != self.script_name}
        return shared | {SCRIPT: scripts[self.script_name]}

    @property
    def digest(self) -> str:
        """A hash of the program: its files and parameters, by their neutral names."""
        return program_digest(self.files, self.run.parameters)

    def lay_out(self, directory: Path) -> None:
        """Write the files into a new directory, with the parameters in a config.json beside
        them.
        """
        directory.mkdir(parents=True)
        for name, text in self.files.items():
            (directory / name).write_bytes(text)
        parameters = json.dumps({"parameters": self.run.parameters}, indent=1)
        (directory / "config.json").write_text(parameters, encoding="utf-8")

    def with_run(self, run: Run) -> "ShownProgram":
        """The same program by another run: on another machine, or on a GPU."""
        return replace(self, run=run)

    def with_losses(self, losses: Sequence[Mapping[str, Any]]) -> "ShownProgram":
        """The same program with the loss of every iteration of its bare run."""
        return replace(self, baseline=replace(self.baseline or BareBaseline(), losses=losses))
