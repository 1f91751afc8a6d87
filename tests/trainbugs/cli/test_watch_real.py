"""`trainbugs watch` over small programs in a real torch."""

import signal
import subprocess
import sys

import pytest
from support.paths import ROOT

pytestmark = pytest.mark.real
TRAIN = """\
import sys
import torch
from torch import nn


def train(clear):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(5):
        if clear:
            optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(torch.randn(64, 2)), torch.randint(2, (64,)))
        loss.backward()
        optimizer.step()
    print(sys.argv[1:], loss.item(), flush=True)


"""
LINE = 1 + TRAIN.splitlines().index("        loss.backward()")
MAIN = {
    "wrong": "train(clear=False)\n",
    "right": "train(clear=True)\n",
    "crash": "train(clear=False)\nraise ValueError('mine')\n",
    "deep": "class Model(nn.Linear):\n    def forward(self, points):\n        {}['mine']\n"
    "model = Model(2, 2)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "model(torch.randn(2, 2))\n",
    "discards": "torch.optim.SGD([torch.zeros(1)], lr=0.1)\n"
    "nn.functional.mse_loss(torch.zeros(4, 1), torch.zeros(4))\n"
    "nn.functional.mse_loss(torch.zeros(4, 1), torch.zeros(4))\n"
    "torch.zeros(3).view(5)\n",
    "warns": "import warnings\n"
    "class Model(nn.Linear):\n    def forward(self, points):\n"
    "        warnings.warn('in forward', stacklevel=1)\n"
    "        return super().forward(points)\n"
    "model = Model(2, 2)\n"
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "for step in range(10):\n    optimizer.zero_grad()\n    model.train()\n"
    "    nn.functional.mse_loss(model(torch.randn(4, 2)), torch.randn(1, 2)).backward()\n"
    "    optimizer.step()\n    model.eval()\n    with torch.no_grad():\n"
    "        nn.functional.mse_loss(model(torch.randn(4, 2)), torch.randn(1, 2))\n",
    "none": "print('no training')\n",
    "spawn": "import torch.multiprocessing as mp\n"
    "def work(rank):\n    train(clear=rank > 0)\n"
    "if __name__ == '__main__':\n    mp.spawn(work, nprocs=2)\n",
    "waits": "import time\ntrain(clear=False)\nprint('there', flush=True)\ntime.sleep(60)\n",
}


def begin(python, folder, *words):
    command = [sys.executable, "-m", "trainbugs", "watch", "--python", python, *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True)


@pytest.fixture
def watch(torch_python, tmp_path, monkeypatch):
    """Run one of the programs; returns its exit status and what was written to both streams."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def call(name, *words):
        (tmp_path / f"{name}.py").write_text(TRAIN + MAIN[name])
        with begin(torch_python, tmp_path, f"{name}.py", *words) as program:
            out, err = program.communicate(timeout=300)
        return program.returncode, out, err

    return call


def row(file):
    return f"stale-gradients  error     {file}:{LINE}  iteration 2  --ignore stale-gradients\n"


def test_a_program_that_is_wrong(watch, torch_python, tmp_path):
    status, out, err = watch("wrong", "--epochs", "3")
    assert status == 1
    assert err.startswith("trainbugs watch: 1 invariant was broken in 5 steps of 1 optimizer\n")
    assert row("wrong.py") in err
    alone = subprocess.check_output(
        [torch_python, "wrong.py", "--epochs", "3"], cwd=tmp_path, text=True
    )
    assert out == alone, "it does what it does alone"


def test_a_program_that_is_right(watch):
    status, _, err = watch("right")
    assert (status, err) == (
        0,
        "trainbugs watch: no invariant was broken in 5 steps of 1 optimizer\n",
    )


def test_a_program_without_an_optimizer(watch):
    status, out, err = watch("none")
    assert (status, out) == (3, "no training\n")
    assert err.startswith("trainbugs watch: nothing was watched: no optimizer made a step\n")


def test_a_crash_keeps_its_traceback(watch):
    status, _, err = watch("crash")
    assert status == 1
    assert "ValueError: mine\ntrainbugs watch: 1 invariant" in err
    assert row("crash.py") in err


def test_a_traceback_has_no_frame_of_the_launcher(watch, torch_python, tmp_path):
    err = watch("deep")[2]
    alone = subprocess.run(
        [torch_python, "deep.py"], cwd=tmp_path, text=True, stderr=subprocess.PIPE, check=False
    ).stderr
    traceback = err.partition("trainbugs watch:")[0]
    assert traceback.count('File "') >= 3
    assert traceback.replace(f"{tmp_path}/", "") == alone.replace(f"{tmp_path}/", "")


@pytest.mark.parametrize("name", ["warns", "discards"])
def test_warnings_come_as_they_come_alone(watch, torch_python, tmp_path, name):
    err = watch(name)[2]
    alone = subprocess.run(
        [torch_python, f"{name}.py"], cwd=tmp_path, text=True, stderr=subprocess.PIPE, check=False
    ).stderr
    assert alone.count("Using a target size") == 2
    warned = err.partition("trainbugs watch:")[0]
    assert warned.replace(f"{tmp_path}/", "") == alone.replace(f"{tmp_path}/", "")


def test_started_processes_are_watched(watch):
    status, out, err = watch("spawn")
    assert status == 1
    assert out.count("[]") == 2
    assert row("spawn.py") in err
    assert "in 5 steps of 2 optimizers" in err


def test_ctrl_c(torch_python, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "waits.py").write_text(TRAIN + MAIN["waits"])
    with begin(torch_python, tmp_path, "waits.py") as program:
        assert "there\n" in iter(program.stdout.readline, "")
        program.send_signal(signal.SIGINT)
        _, err = program.communicate(timeout=60)
    assert program.returncode == 130
    assert "KeyboardInterrupt" in err
    assert row("waits.py") in err


def test_a_module_of_a_package(torch_python, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "training.py").write_text(TRAIN)
    (package / "__main__.py").write_text("from .training import train\ntrain(clear=False)\n")
    with begin(torch_python, tmp_path, "-m", "package", "-m") as program:
        out, err = program.communicate(timeout=300)
    assert program.returncode == 1
    assert out.startswith("['-m'] ")
    assert row("package/training.py") in err
