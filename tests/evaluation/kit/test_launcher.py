"""The launcher lives in the script's process, and hides no module of the script:
not in processes it starts, either.
"""

import json
import subprocess

import pytest

from evaluation.keys import KIT

MONITOR = """\
class Monitor:
    def __init__(self, program, emit):
        self.emit = emit

    def after_loss(self, *arguments):
        self.emit("loss", "seen")


def watch(program, emit):
    return Monitor(program, emit)
"""
# The script's modules have names that the launcher's have, too.
NAMES = ("launcher", "hooks", "report")
PROGRAM = """\
import multiprocessing
import sys

import torch

import hooks, launcher, report


def main():
    model = torch.nn.Linear(1, 1)
    torch.optim.SGD(model.parameters(), lr=0.1)
    torch.nn.functional.mse_loss(model(torch.ones(1)), torch.ones(1))
    print(hooks.OWNER, launcher.OWNER, report.OWNER, flush=True)


if __name__ == "__main__":
    main()
    worker = multiprocessing.get_context("spawn").Process(target=main)
    worker.start()
    worker.join()
    sys.exit(worker.exitcode)
"""


@pytest.mark.real
@pytest.mark.parametrize("entry", ["launcher", "launcher/__main__.py"])
def test_a_script_imports_modules_of_its_own_with_names_of_ours(torch_python, tmp_path, entry):
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text("OWNER = 'script'\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "monitor").mkdir()
    (tmp_path / "monitor" / "monitor.py").write_text(MONITOR)
    argv = [KIT / entry, "out.json", "--monitor", "monitor/monitor.py", "program.py"]
    done = subprocess.run(
        [torch_python, *argv], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "script script script\n" * 2
    report = json.loads((tmp_path / "out.json").read_text())
    assert report["error"] is None
    assert report["optimizers"] == 2
    assert [alarm["file"] for alarm in report["alarms"]] == ["program.py"]
