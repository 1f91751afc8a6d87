"""What is a program that a detector looks at? A run of a bug or a control, and the neutral names of its files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluation.model import CONTROL
from runner.bugs.model import Bug, Case
from runner.execution.run import Run


@dataclass(frozen=True)
class Program:
    """A program to be looked at: a variant of a bug's case, or a clean control. The run holds scripts and place."""

    bug: Bug
    run: Run

    @property
    def case(self) -> Case:
        return self.run.case

    @property
    def kind(self) -> str:
        return CONTROL if self.bug.id == CONTROL else self.run.variant

    @property
    def files(self) -> Mapping[str, bytes]:
        """What a detector may see, under neutral names: the script as program.py, and what it imports."""
        script = self.case.program.variants[self.run.variant].script.name
        shared = {name: text for name, text in self.run.scripts.items() if name != script}
        return shared | {"program.py": self.run.scripts[script]}

    def lay_out(self, directory: Path) -> None:
        """Write the files into a new directory, with the parameters in a config.json beside them."""
        directory.mkdir(parents=True)
        for name, text in self.files.items():
            (directory / name).write_bytes(text)
        parameters = json.dumps({"parameters": self.run.parameters}, indent=1)
        (directory / "config.json").write_text(parameters, encoding="utf-8")
