"""The launcher and the monitors that are shipped, on one small program with one thing wrong at a time (real torch)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.running.keys import KIT
from runner.environments import builder, spec
from runner.progress.lines import on_stderr

ROOT = Path(__file__).parent.parent
MONITORS = ("api-sequence", "gradient-cycle", "optimizer-progress")
PROGRAM = """\
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
Optimizer = torch.optim.Adam
#CLASS#
optimizer = Optimizer(model.parameters(), lr=0.01)
#BEFORE#
points, labels = torch.randn(64, 2), torch.randint(2, (64,))


def update():
    #CLEAR#
    loss = nn.functional.cross_entropy(model(points), labels)
    loss.backward()
    #BETWEEN#
    optimizer.step()
    return loss


#COMPILE#
print([update().item() for _ in range(5)])
"""
GOOD = {"CLEAR": "optimizer.zero_grad()"}
LAZY = """
class Optimizer(torch.optim.Adam):
    calls = 0
    def step(self, closure=None):
        self.calls += 1
        return super().step() if self.calls < 3 else None
"""
GREEDY = """
class Optimizer(torch.optim.SGD):
    def step(self, closure=None):
        with torch.no_grad():
            for p in model.parameters():
                p.add_(0.01)
"""
OLD = """
class Optimizer(torch.optim.SGD):
    def step(self, closure=None):
        for p in self.param_groups[0]["params"]:
            p.data.add_(p.grad.data, alpha=-0.01)
"""
STALE = {"api-sequence": ("no-zero-grad", 2), "gradient-cycle": ("not-periodic", 2)}
CASES = {
    "right": ({}, {}),
    "never cleared": ({"CLEAR": "pass"}, STALE),
    "thrown away": (
        {"CLEAR": "pass", "BETWEEN": "optimizer.zero_grad()"},
        {"api-sequence": ("zero-grad-before-step", 1)},
    ),
    "cleared by hand": ({"CLEAR": "for p in model.parameters(): p.grad = None"}, {}),
    "zeroed by hand": ({"CLEAR": "[p.grad.zero_() for p in model.parameters() if p.grad is not None]"}, {}),
    "cleared by the module": ({"CLEAR": "model.zero_grad()"}, {}),
    # Calls alone do not tell: whatever is not zero may be left over.
    "replaced by hand": (
        {"CLEAR": "for p in model.parameters(): p.grad = torch.full_like(p, 0.001)"},
        {"api-sequence": ("no-zero-grad", 2)},
    ),
    "half of it cleared": ({"CLEAR": "model[0].zero_grad()"}, {"gradient-cycle": ("not-periodic", 2)}),
    "another module cleared": ({"BEFORE": "other = nn.Linear(1, 1)", "CLEAR": "other.zero_grad()"}, STALE),
    "a step that stops working": ({"CLASS": LAZY}, {"optimizer-progress": ("no-progress", 3)}),
    "a step that moves all": (
        {"CLASS": GREEDY, "BEFORE": "model[2].weight.requires_grad_(False)"},
        {"optimizer-progress": ("moved-without-gradient", 1)},
    ),
    "an optimizer that writes past autograd": ({"CLASS": OLD}, {}),
    "a learning rate of zero": ({"BEFORE": "optimizer.param_groups[0]['lr'] = 0.0"}, {}),
    "a zero gradient": (
        {"CLASS": "Optimizer = torch.optim.SGD", "BETWEEN": "[p.grad.zero_() for p in model.parameters()]"},
        {},
    ),
    "the same gradients twice": ({"BETWEEN": "optimizer.step()"}, {}),
}  # fmt: skip


def watch(python, folder, monitor, edits):
    """The launcher's report on the program with some of its places filled in, and what the program printed."""
    text = PROGRAM
    for place, words in (GOOD | edits).items():
        text = text.replace(f"#{place}#", words)
    (folder / "program.py").write_text(text.replace("    #CLEAR#\n", ""))
    out = folder / "out.json"
    out.unlink(missing_ok=True)
    option = ["--monitor", str(ROOT / "detectors" / monitor / "monitor.py")] if monitor else []
    done = subprocess.run(
        [python, KIT / "launcher.py", out, *option, "program.py"], cwd=folder, capture_output=True, text=True
    )
    return json.loads(out.read_text()), done


def first_alarms(python, folder, edits):
    """By monitor, code and iteration of its first alarm."""
    found = {}
    for monitor in MONITORS:
        report, done = watch(python, folder, monitor, edits)
        assert done.returncode == 0 and report["error"] is None, done.stderr
        if report["alarms"]:
            found[monitor] = (report["alarms"][0]["code"], report["alarms"][0]["iteration"])
    return found


def works_in(python, folder, compiles):
    """What must hold in every release: eagerly and, where the release can, with the whole update compiled."""
    ways = [{}] + ([{"COMPILE": "update = torch.compile(update, backend='eager')"}] if compiles else [])
    for way in ways:
        assert first_alarms(python, folder, way) == {}
        assert first_alarms(python, folder, way | {"CLEAR": "pass"}) == STALE


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
    assert (first["file"], text[first["line"] - 1].strip()) == ("program.py", "optimizer.step()")
    assert first["parameter"] == "0.weight" and report["optimizers"] == 1 and 0 < report["loop_s"] < 60


FORWARDS = """
class M:
    def __init__(self, model):
        self.seen = 0
        self.bare, model.forward = model.forward, self.forward
    def forward(self, *inputs):
        self.seen += 1
        return self.bare(*inputs)
    def end(self, iteration):
        print("forward passes", self.seen, "iterations", iteration)


def attach(model, optimizer, emit):
    return M(model)
"""


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
    assert report["error"] is None and "forward passes 5 iterations 5" in done.stdout, done.stderr


@pytest.mark.real
def test_what_is_compiled_whole_has_no_hook_in_its_graph(python, tmp_path):
    whole = "update = torch.compile(lambda: model(points).sum(), backend='eager', fullgraph=True)"
    for edits in ({"COMPILE": whole}, {"CLASS": whole, "BEFORE": "points = torch.randn(64, 2); update()"}):
        report, done = watch(python, tmp_path, "api-sequence", edits)
        assert report["error"] is None and done.returncode == 0, done.stderr


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
    assert report["error"] == "ValueError: oh" and done.returncode == 0 and done.stdout


@pytest.mark.real
def test_a_program_that_fails_keeps_its_exit_status_and_its_alarms(python, tmp_path):
    report, done = watch(
        python, tmp_path, "api-sequence", {"CLEAR": "pass", "COMPILE": "[update() for _ in range(3)]; 1 / 0"}
    )
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr and len(report["alarms"]) == 2


def test_without_torch_the_launcher_says_so(tmp_path):
    done = subprocess.run(
        [sys.executable, KIT / "launcher.py", "o", "p.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1 and "No module named 'torch'" in done.stderr
