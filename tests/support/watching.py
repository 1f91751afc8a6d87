"""An interpreter that only seems to have torch: it runs a script as it is,
and the report is one of the test's.
"""

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.paths import ROOT

# What it is called with lies in called.json beside it, and it leaves report.json in the launcher's
# place.
FAKE = """\
#!{python}
import json, os, sys
from pathlib import Path
here = Path(__file__).parent
if sys.argv[1] == "-c":
    print({torch!r})
    sys.exit()
at = sys.argv.index("--")
launcher, words = sys.argv[1:at], sys.argv[at + 1:]
called = {{"launcher": launcher, "words": words, "settings": json.loads(os.environ["TRAINBUGS_SANITIZER"])}}
(here / "called.json").write_text(json.dumps(called))
sys.argv = words
try:
    exec(compile(Path(words[0]).read_text(), words[0], "exec"))
finally:
    Path(launcher[1]).write_text((here / "report.json").read_text())
"""
REPORT = {
    "dropped": 0,
    "optimizers": 1,
    "steps": 40,
    "loop_s": 1.5,
    "error": None,
    "traceback": None,
    "notes": {},
}
ALARM = {
    "iteration": 2,
    "file": "train.py",
    "line": 7,
    "api": "torch.optim.Optimizer.zero_grad",
    "parameter": "0.weight",
    "code": "stale-gradients",
    "message": "they were not cleared",
    "severity": "error",
}


class Fake:
    """An interpreter at `path`, in a new folder."""

    def __init__(self, folder: Path, torch: str = "2.2.2") -> None:
        folder.mkdir()
        self.path = folder / "python3"
        self.path.write_text(FAKE.format(python=sys.executable, torch=torch))
        self.path.chmod(0o755)
        self.leaves()

    def leaves(self, alarms: Sequence[Mapping[str, Any]] = (), **changes: Any) -> None:
        """From now on its runs end with this report."""
        report = {"alarms": [ALARM | dict(alarm) for alarm in alarms], **REPORT, **changes}
        (self.path.parent / "report.json").write_text(json.dumps(report))

    def called(self) -> dict[str, Any]:
        """How it was called last."""
        call: dict[str, Any] = json.loads((self.path.parent / "called.json").read_text())
        return call


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """The `python3` of PATH; its script train.py, in the working directory, does nothing."""
    (tmp_path / "train.py").write_text("")
    launcher = Fake(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    return launcher


@pytest.fixture
def watch(cli, toy, fake):
    """Call `trainbugs watch` in a catalogue that has the sanitizer."""
    shutil.copytree(ROOT / "detectors" / "sanitizer", toy.root / "detectors" / "sanitizer")
    return lambda *words: cli("watch", *words)
