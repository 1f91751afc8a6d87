"""The launcher and the monitors that are shipped,
on one small program with one thing wrong at a time (real torch).
"""

import subprocess
import sys

import pytest
from support.monitors import CASES, FORWARDS, MONITORS, first_alarms, watch
from support.paths import ROOT

from evaluation.keys import KIT
from runner.environments import builder, spec
from runner.progress.lines import on_stderr


@pytest.fixture(scope="module")
def python():
    return builder.build(spec.load(ROOT, "torch-2.2.2"), on_stderr()).python


@pytest.mark.real
@pytest.mark.parametrize("name", CASES)
def test_each_mistake_is_seen_by_the_monitors_that_look_for_it(python, tmp_path, name):
    edits, expected = CASES[name]
    assert first_alarms(python, tmp_path, edits) == expected


@pytest.mark.real
def test_a_watched_program_does_what_it_does_alone(python, tmp_path):
    alone = watch(python, tmp_path, None, {})[1].stdout
    assert alone.count("0.") == 5
    for monitor in MONITORS:
        assert watch(python, tmp_path, monitor, {})[1].stdout == alone


@pytest.mark.real
def test_alarms_name_the_line_and_the_parameter(python, tmp_path):
    report, _ = watch(python, tmp_path, "gradient-cycle", {"CLEAR": "pass"})
    first = report["alarms"][0]
    text = (tmp_path / "program.py").read_text().splitlines()
    assert first["file"] == "program.py"
    assert text[first["line"] - 1].strip() == "optimizer.step()"
    assert first["parameter"] == "0.weight"
    assert report["optimizers"] == 1
    assert 0 < report["loop_s"] < 60


STAMPED = """
class Monitor:
    def __init__(self, emit):
        self.emit = emit

    def before_step(self, iteration):
        if iteration == 3:
            self.emit("third", "it says that it is the first", iteration=1)

    def end(self, iteration):
        self.emit("last", "after five", iteration=1)


def attach(model, optimizer, emit):
    return Monitor(emit)
"""


@pytest.mark.real
def test_the_launcher_notes_when_an_alarm_was_raised_whatever_it_says(python, tmp_path):
    folder = tmp_path / "stamped"
    folder.mkdir()
    (folder / "monitor.py").write_text(STAMPED)
    report, _ = watch(python, tmp_path, folder, {"CLEAR": "optimizer.zero_grad()"})
    assert [(alarm["code"], alarm["seen"]) for alarm in report["alarms"]] == [
        ("third", 3),
        ("last", 6),
    ]


@pytest.mark.real
@pytest.mark.parametrize("clear", ["pass", "optimizer.zero_grad()"])
@pytest.mark.parametrize("compiled", ["", "update = torch.compile(update, backend='eager')"])
def test_monitors_are_there_before_the_first_forward_pass_whatever_the_program_calls_first(
    python, tmp_path, clear, compiled
):
    folder = tmp_path / "forwards"
    folder.mkdir()
    (folder / "monitor.py").write_text(FORWARDS)
    report, done = watch(python, tmp_path, folder, {"CLEAR": clear, "COMPILE": compiled})
    assert report["error"] is None, done.stderr
    assert "forward passes 5 iterations 5" in done.stdout, done.stderr


@pytest.mark.real
def test_what_is_compiled_whole_has_no_hook_in_its_graph(python, tmp_path):
    whole = "update = torch.compile(lambda: model(points).sum(), backend='eager', fullgraph=True)"
    for edits in (
        {"COMPILE": whole},
        {"CLASS": whole, "BEFORE": "points = torch.randn(64, 2); update()"},
    ):
        report, done = watch(python, tmp_path, "api-sequence", edits)
        assert report["error"] is None, done.stderr
        assert done.returncode == 0, done.stderr


@pytest.mark.real
@pytest.mark.parametrize("where", ["attach", "step"])
def test_a_monitor_that_fails_is_reported_and_the_program_goes_on(python, tmp_path, where):
    folder = tmp_path / "bad"
    folder.mkdir()
    body = "raise ValueError('oh')"
    method = f"    def after_step(self, iteration):\n        {body}\n"
    text = f"class M:\n{method}\n\ndef attach(model, optimizer, emit):\n    return M()\n"
    if where == "attach":
        text = f"def attach(model, optimizer, emit):\n    {body}\n"
    (folder / "monitor.py").write_text(text)
    report, done = watch(python, tmp_path, folder, {})
    assert report["error"] == "ValueError: oh"
    assert done.returncode == 0
    assert done.stdout


@pytest.mark.real
def test_a_program_that_fails_keeps_its_exit_status_and_its_alarms(python, tmp_path):
    report, done = watch(
        python,
        tmp_path,
        "api-sequence",
        {"CLEAR": "pass", "COMPILE": "[update() for _ in range(3)]; 1 / 0"},
    )
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert len(report["alarms"]) == 2


def test_without_torch_the_launcher_says_so(tmp_path):
    done = subprocess.run(
        [sys.executable, KIT / "launcher", "o", "p.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "No module named 'torch'" in done.stderr
