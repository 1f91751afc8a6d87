"""What a monitor of the whole program is told, in a real torch: which moments, how often,
in which iteration.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from support.monitors import watch
from support.paths import ROOT

from evaluation.keys import KIT
from runner.environments import builder, spec
from runner.progress.lines import on_stderr

TELLER = """\
import sys


class Counter:
    def __init__(self, program, emit):
        self.program, self.emit, self.counts = program, emit, {}

    def __getattr__(self, name):
        if name not in WANTED:
            raise AttributeError(name)
        return lambda *what: self.count(name)

    def count(self, name):
        self.counts[name] = self.counts.get(name, 0) + 1
        if name == "after_step":
            self.emit("step", f"in iteration {self.program.iteration}")

    def end(self):
        self.program.note("counts", self.counts)
        self.program.note("modules", [type(each).__name__ for each in self.program.modules()])
        self.program.note("graphs", self.program.compilations())

    def join(self, notes):
        self.emit("join", repr(len([each for each in notes if each])))


def watch(program, emit):
    return Counter(program, emit)
"""

ALL = (
    "before_forward inner_forward after_forward after_loss after_difference before_backward "
    "after_backward before_step after_step before_zero_grad after_zero_grad before_clip after_clip "
    "before_epoch after_batch after_scheduler before_schedule after_schedule before_load "
    "after_load after_mode before_compiled after_compiled after_sum after_number after_scale "
    "after_unscale before_scaled_step after_state"
)

PROGRAM = """\
import sys

import torch
import torch.multiprocessing as mp
from torch import nn
from torch.nn import functional as F
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, TensorDataset

MODE = sys.argv[1]


def train(rank=0):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 8), nn.Dropout(0.1), nn.Linear(8, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    warm, cool = lr_scheduler.LinearLR(optimizer), lr_scheduler.ConstantLR(optimizer)
    scheduler = lr_scheduler.ChainedScheduler([warm, cool])
    net = torch.compile(model, backend="eager") if MODE == "model" else model
    whole = torch.compile(lambda points: net(points).sum(), backend="eager", fullgraph=True)
    data = TensorDataset(torch.randn(32, 2), torch.randint(2, (32,)))
    losses = []
    for _ in range(2):
        net.train()
        for points, labels in DataLoader(data, batch_size=16, num_workers=2 if MODE == "workers" else 0):
            optimizer.zero_grad()
            loss = F.cross_entropy(net(points), labels)
            loss.backward()
            nn.utils.clip_grad_norm_((p for p in model.parameters()), 1.0)
            optimizer.step()
            losses.append(loss.item())
            if MODE == "function":
                whole(points)
        # Two of five sums, and six of eight numbers, are told.
        sums = [1 + loss, loss.detach() + loss, loss + loss, 1 + loss.detach(), points + 1]
        numbers = [float(loss), loss.tolist(), torch.tensor([loss, loss]), float(loss.detach()), torch.tensor([1.0])]
        assert not sums[0].equal(sums[1]) and len(numbers) == 5
        scheduler.step()
        net.eval()
        with torch.no_grad():
            net(points)
    optimizer.load_state_dict(optimizer.state_dict())
    model.state_dict()
    torch.ones(2, 1) - torch.zeros(2)
    torch.ones(2, 1) - torch.zeros(1)
    print(losses, torch._dynamo.utils.counters["stats"]["unique_graphs"])


if __name__ == "__main__":
    if MODE in ("fork", "spawn", "forkserver"):
        mp.start_processes(train, nprocs=2, start_method=MODE)
    else:
        train()
"""

ONCE = {
    "before_forward": 6, "inner_forward": 3, "after_forward": 6, "after_loss": 4, "after_difference": 1,
    "before_backward": 4, "after_backward": 4, "before_step": 4, "after_step": 4, "before_zero_grad": 4,
    "after_zero_grad": 4, "before_clip": 4, "after_clip": 4, "before_epoch": 2, "after_batch": 4, "after_scheduler": 3,
    "before_schedule": 2, "after_schedule": 2, "before_load": 1, "after_load": 1, "after_mode": 4,
    "after_sum": 4, "after_number": 16, "after_state": 1,
}  # fmt: skip
UNSAID = ("inner_forward",)


@pytest.fixture(scope="module")
def python():
    return builder.build(spec.load(ROOT, "torch-2.2.2"), on_stderr()).python


def launch(python, folder, mode, moments=ALL, program=PROGRAM):
    """The launcher's report on a program, and what the program printed, watched and alone."""
    folder.mkdir(exist_ok=True)
    (folder / "program.py").write_text(program)
    monitor = folder / "m" / "monitor.py"
    monitor.parent.mkdir(exist_ok=True)
    monitor.write_text(f"WANTED = {moments.split()!r}\n{TELLER}")
    out = folder / "out.json"
    argv = [KIT / "launcher", out, "--monitor", monitor, "program.py", mode]
    runs = [
        subprocess.run(
            [python, "-W", "ignore", *command],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
        )
        for command in (argv, ["program.py", mode])
    ]
    assert [run.returncode for run in runs] == [0, 0], runs[0].stderr + runs[1].stderr
    report = json.loads(out.read_text())
    assert report["error"] is None, report["traceback"]
    return report, runs[0].stdout, runs[1].stdout


def steps(report):
    return [alarm["iteration"] for alarm in report["alarms"] if alarm["code"] == "step"]


@pytest.mark.real
@pytest.mark.parametrize("mode", ["plain", "workers", "model", "function"])
def test_each_moment_is_told_and_the_program_does_what_it_does_alone(python, tmp_path, mode):
    report, watched, alone = launch(python, tmp_path, mode)
    assert watched == alone, "the losses, and the number of compiled graphs"
    counts = report["notes"]["counts"]
    compiled = {"before_compiled": 4, "after_compiled": 4} if mode == "function" else {}
    expected = ONCE | compiled
    # What a compiled graph calls inside is not said.
    expected_counts = {
        name: count for name, count in counts.items() if mode == "plain" or name not in UNSAID
    }
    assert expected_counts == {
        name: count for name, count in expected.items() if mode == "plain" or name not in UNSAID
    }
    assert steps(report) == [1, 2, 3, 4]
    assert report["steps"] == 4
    assert report["optimizers"] == 1


@pytest.mark.real
@pytest.mark.parametrize("mode", ["spawn", "forkserver"])
def test_what_happens_in_started_processes_is_seen_there(python, tmp_path, mode):
    report, *_ = launch(python, tmp_path, mode)
    assert report["optimizers"] == 2
    assert report["steps"] == 4
    assert steps(report) == [1, 2, 3, 4]
    joined = [alarm["message"] for alarm in report["alarms"] if alarm["code"] == "join"]
    assert joined == ["3"], "the first process, and both that it started"


@pytest.mark.real
def test_only_what_a_monitor_asks_for_is_hooked(python, tmp_path):
    names = (
        "print(torch.nn.Module.__call__.__code__.co_filename, "
        "F.cross_entropy.__code__.co_filename)\n"
    )
    program = "import torch\nfrom torch.nn import functional as F\n" + names
    for moments, hooked in (
        ("", [False, False]),
        ("after_loss", [False, True]),
        ("before_forward", [True, False]),
    ):
        _, watched, _ = launch(python, tmp_path, "x", moments, program)
        assert [Path(path).parent.name == "launcher" for path in watched.split()] == hooked


ITERATIONS = """\
import torch

def make(count):
    parameter = torch.nn.Parameter(torch.ones(count))
    return parameter, torch.optim.SGD([parameter], lr=0.1)


def step(parameter, optimizer):
    optimizer.zero_grad()
    parameter.sum().backward()
    optimizer.step()

#BODY#
"""
BODIES = {
    "in turns": (
        "a, b = make(1), make(2)\nfor _ in range(3): step(*a); step(*b)",
        [1, 1, 2, 2, 3, 3],
    ),
    "one after the other": (
        "a, b = make(1), make(2)\nfor _ in range(3): step(*a)\nfor _ in range(2): step(*b)",
        [1, 2, 3, 4, 5],
    ),
    "another one instead": (
        "for _ in range(2):\n    a = make(1)\n    for _ in range(2): step(*a)",
        [1, 2, 3, 4],
    ),
}
OWN = """\
class M:
    def __init__(self, emit):
        self.emit = emit

    def after_step(self, iteration):
        self.emit("step", "own " + str(iteration))


def attach(model, optimizer, emit, program):
    assert program.optimizers()
    return M(emit)
"""


@pytest.mark.real
@pytest.mark.parametrize("name", BODIES)
def test_alarms_count_the_iterations_of_the_program(python, tmp_path, name):
    body, expected = BODIES[name]
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "monitor.py").write_text(OWN)
    (tmp_path / "program.py").write_text(ITERATIONS.replace("#BODY#", body))
    argv = [python, KIT / "launcher", "out.json", "--monitor", "m/monitor.py", "program.py"]
    subprocess.run(argv, cwd=tmp_path, check=True, capture_output=True)
    report = json.loads((tmp_path / "out.json").read_text())
    assert report["error"] is None
    assert steps(report) == expected


@pytest.mark.real
def test_a_monitor_that_fails_leaves_its_traceback(python, tmp_path):
    (tmp_path / "bad").mkdir()
    lines = [
        "def watch(program, emit):",
        "    return M()",
        "class M:",
        "    def after_loss(self, *what):",
        "        1 / 0",
    ]
    (tmp_path / "bad" / "monitor.py").write_text("\n".join(lines))
    report, done = watch(python, tmp_path, tmp_path / "bad", {})
    assert done.returncode == 0
    assert report["error"] == "ZeroDivisionError: division by zero"
    assert "monitor.py" in report["traceback"]
    assert "line 5" in report["traceback"]


@pytest.mark.real
def test_a_program_without_an_optimizer_is_unsupported(python, tmp_path):
    (tmp_path / "monitor.py").write_text("def watch(program, emit):\n    return None\n")
    (tmp_path / "program.py").write_text("import torch\n")
    target = {
        "directory": str(tmp_path), "script": "program.py", "arguments": [], "python": str(python),
        "launcher": str(KIT / "launcher"), "packages": [], "timeout_s": 100,
    }  # fmt: skip
    (tmp_path / "target.json").write_text(json.dumps(target))
    argv = [
        "monitor.py",
        "check",
        "--target",
        "target.json",
        "--out",
        "answer.json",
        "--state",
        "state",
    ]
    subprocess.run([python, KIT / "monitor_adapter.py", *argv], cwd=tmp_path, check=True)
    answer = json.loads((tmp_path / "answer.json").read_text())
    assert answer == {
        "status": "unsupported",
        "reason": "no optimizer was seen: nothing is said of a training",
    }


@pytest.mark.real
def test_the_hooks_do_without_what_later_releases_have_taken_from_the_core_of_dynamo(torch_python):
    program = (
        "import torch._dynamo; del torch._C._dynamo.eval_frame.skip_code; import launcher.hooks"
    )
    subprocess.run([torch_python, "-c", program], cwd=KIT, check=True)


CURIOUS = """\
import random

import numpy
import torch


class Curious:
    def __init__(self, program, emit):
        self.program, self.emit, self.calls = program, emit, 0

    def after_forward(self, module, arguments, options, output):
        self.calls += 1
        with self.program.undisturbed():
            with self.program.undisturbed():
                torch.rand(3)
            module(*arguments, **options)
            random.random()
            numpy.random.rand()

    def end(self):
        self.emit("calls", str(self.calls))


def watch(program, emit):
    return Curious(program, emit)
"""
DRAWS = """\
import random

import numpy
import torch

model = torch.nn.Dropout()
torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)
torch.manual_seed(0)
random.seed(0)
numpy.random.seed(0)
for _ in range(3):
    print(model(torch.ones(4)).tolist(), torch.rand(2).tolist(), random.random(), numpy.random.rand())
"""


@pytest.mark.real
def test_what_a_monitor_does_undisturbed_is_not_seen(torch_python, tmp_path):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "monitor.py").write_text(CURIOUS)
    (tmp_path / "program.py").write_text(DRAWS)
    argv = [KIT / "launcher", "out.json", "--monitor", "m/monitor.py", "program.py"]
    watched, alone = (
        subprocess.run(
            [torch_python, *command], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout
        for command in (argv, ["program.py"])
    )
    report = json.loads((tmp_path / "out.json").read_text())
    assert watched == alone
    assert [alarm["message"] for alarm in report["alarms"]] == ["3"]


HELPED = """\
from helper import Told


def watch(program, emit):
    return Told(emit)
"""
HELPER = """\
class Told:
    def __init__(self, emit):
        self.emit = emit

    def after_loss(self, *what):
        self.emit("told", "of a loss")
"""
LOSS = """\
import torch

torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)
torch.nn.functional.mse_loss(torch.ones(1), torch.ones(1))
"""


def places(python, folder, kit, monitor):
    (folder / "program.py").write_text(LOSS)
    argv = [kit / "launcher", "out.json", "--monitor", monitor, "program.py"]
    subprocess.run([python, *argv], cwd=folder, check=True, capture_output=True)
    report = json.loads((folder / "out.json").read_text())
    return [(alarm["file"], alarm["line"]) for alarm in report["alarms"]]


@pytest.mark.real
def test_the_place_is_the_program_s_whatever_lies_below_its_folder(torch_python, tmp_path):
    shutil.copytree(KIT, tmp_path / "evaluation" / "kit")
    (tmp_path / "detectors").mkdir()
    (tmp_path / "detectors" / "monitor.py").write_text(HELPED)
    (tmp_path / "detectors" / "helper.py").write_text(HELPER)
    alarm_places = places(
        torch_python,
        tmp_path,
        tmp_path / "evaluation" / "kit",
        tmp_path / "detectors" / "monitor.py",
    )
    assert alarm_places == [("program.py", 4)]


@pytest.mark.real
def test_a_monitor_may_lie_beside_the_program(torch_python, tmp_path):
    (tmp_path / "monitor.py").write_text(
        HELPER + "\n\ndef watch(program, emit):\n    return Told(emit)\n"
    )
    assert places(torch_python, tmp_path, KIT, tmp_path / "monitor.py") == [("program.py", 4)]


RECORDED = """\
import torch

recording = False
torch.cuda.is_initialized = lambda: recording
torch.cuda.is_current_stream_capturing = lambda: recording


def iteration():
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(torch.ones(2, 2)), torch.ones(2, 2)).backward()
    optimizer.step()


model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
iteration()
recording = True
iteration()
recording = False
torch.func.vmap(lambda each: torch.nn.functional.mse_loss(each, each))(torch.ones(2, 2))
torch.jit.trace(lambda each: torch.nn.functional.mse_loss(each, each), torch.ones(2), check_trace=False)
iteration()
"""


@pytest.mark.real
def test_nothing_is_told_while_kernels_are_recorded_or_tensors_stand_for_others(python, tmp_path):
    """Without a GPU: what torch says of the recording is put into its mouth."""
    report, *_ = launch(python, tmp_path, "x", program=RECORDED)
    moments = (
        "before_forward",
        "after_loss",
        "before_backward",
        "before_step",
        "after_step",
        "after_zero_grad",
    )
    assert [report["notes"]["counts"][moment] for moment in moments] == [2] * 6
    assert report["steps"] == 2


INNER = """\
import torch

model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    model(torch.ones(1, 2))
    model.train(mode=False)
    model.train()
"""


@pytest.mark.real
def test_inner_modules_are_told_once_and_modes_of_the_outermost_module_alone(python, tmp_path):
    report, *_ = launch(python, tmp_path, "x", "before_forward inner_forward after_mode", INNER)
    assert report["notes"]["counts"] == {"before_forward": 3, "inner_forward": 2, "after_mode": 6}
