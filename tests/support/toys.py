"""Small programs with one thing wrong, or with something that only looks wrong, and what the sanitizer says of them."""

import json
import subprocess
from collections.abc import Mapping
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


class Said(NamedTuple):
    """The errors by code and iteration of their first alarm, the advice, and what the program printed."""

    errors: dict[str, int]
    advice: tuple[str, ...]
    alarms: list[dict[str, object]]
    output: str


def run(python: Path, folder: Path, programs: Mapping[str, str]) -> dict[str, Said]:
    """Run programs, whose common first lines are HEAD, under the sanitizer; each has to end well."""
    for name, text in programs.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "program.py").write_text(HEAD + text)
    runner = Path(__file__).with_name("toys_runner.py")
    subprocess.run([python, runner, KIT, MONITOR, folder], check=True, timeout=600)
    return {name: _said(folder / name) for name in programs}


def _said(folder: Path) -> Said:
    output = (folder / "said").read_text()
    assert (folder / "out.json").exists(), output
    report = json.loads((folder / "out.json").read_text())
    assert report["error"] is None and "Traceback" not in output, f"{report['traceback']}{output}"
    alarms = report["alarms"]
    assert not [alarm for alarm in alarms if alarm["code"] == "failed"], alarms
    errors: dict[str, int] = {}
    for alarm in alarms:
        if alarm["severity"] == "error":
            errors.setdefault(alarm["code"], alarm["iteration"])
    return Said(
        errors,
        tuple(alarm["code"] for alarm in alarms if alarm["severity"] == "info"),
        alarms,
        output,
    )
