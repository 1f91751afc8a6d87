"""Small programs with one thing wrong, or with something that only looks wrong,
run under the sanitizer.
"""

import json
import runpy
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import NamedTuple

from evaluation.keys import KIT
from support.paths import ROOT

MONITOR = ROOT / "detectors" / "sanitizer" / "monitor.py"
HEAD = """\
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
"""


class Verdict(NamedTuple):
    """The errors by code and iteration of their first alarm, the advice,
    and what the program printed.
    """

    errors: dict[str, int]
    advice: tuple[str, ...]
    alarms: list[dict[str, object]]
    output: str


@dataclass(frozen=True)
class Toys:
    """The toys of one invariant, by their names, with what it is to say of them.

    The invariant accuses `wrong` programs and only advises on `advised` ones. No invariant accuses
    a `right` one, but for those of `others`; if `silent`, none advises on it, either. The
    dictionaries hold what is known of the first alarm on a program: its iteration, API and
    parameter, and its line or a part of that line's text. `outputs` says how many times a program
    prints a word. `rounding` names advice that depends on the processor: where one computes a zero,
    another one computes a rest of rounding.
    """

    name: str
    right: Mapping[str, str]
    wrong: Mapping[str, str] = field(default_factory=dict)
    advised: Mapping[str, str] = field(default_factory=dict)
    silent: bool = False
    others: Mapping[str, Collection[str]] = field(default_factory=dict)
    iterations: Mapping[str, int] = field(default_factory=dict)
    apis: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, int | str] = field(default_factory=dict)
    outputs: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    rounding: Collection[str] = ()

    @property
    def programs(self) -> dict[str, str]:
        """All programs, by kind and name."""
        kinds = {"wrong": self.wrong, "advised": self.advised, "right": self.right}
        return {
            f"{kind} {name}": text
            for kind, programs in kinds.items()
            for name, text in programs.items()
        }


def sure_advice(file: Toys, verdict: Verdict) -> tuple[str, ...]:
    """The advice that a toy of a file gets on every processor."""
    return tuple(code for code in verdict.advice if code not in file.rounding)


def load(path: Path) -> Toys:
    """The toys of a file: its constants are the fields, in capitals."""
    constants = runpy.run_path(str(path))
    names = [toys_field.name for toys_field in fields(Toys)]
    return Toys(**{name: constants[name.upper()] for name in names if name.upper() in constants})


def run(
    python: Path, folder: Path, programs: Mapping[str, str], monitor: Path = MONITOR
) -> dict[str, Verdict]:
    """Run programs, whose common first lines are HEAD, under the sanitizer;
    each has to end well.
    """
    start(python, folder, programs, monitor)
    return {name: verdict(folder / name) for name in programs}


def start(python: Path, folder: Path, programs: Mapping[str, str], monitor: Path = MONITOR) -> None:
    """Run programs under the sanitizer, each in the folder of its name, which is made."""
    for name, text in programs.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "program.py").write_text(HEAD + text)
    runner = Path(__file__).with_name("toys_runner.py")
    subprocess.run([python, runner, KIT, monitor, folder], check=True, timeout=600)


def verdict(folder: Path) -> Verdict:
    """What was said of the program in a folder; raises AssertionError where it did not end well."""
    output = (folder / "output").read_text()
    assert (folder / "out.json").exists(), output
    report = json.loads((folder / "out.json").read_text())
    assert report["error"] is None, f"{report['traceback']}{output}"
    assert "Traceback" not in output, output
    alarms = report["alarms"]
    assert not [alarm for alarm in alarms if alarm["code"] == "failed"], alarms
    errors: dict[str, int] = {}
    for alarm in alarms:
        if alarm["severity"] == "error":
            errors.setdefault(alarm["code"], alarm["iteration"])
    advice = tuple(alarm["code"] for alarm in alarms if alarm["severity"] == "info")
    return Verdict(errors, advice, alarms, output)
