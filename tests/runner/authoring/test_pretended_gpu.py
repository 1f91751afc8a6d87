"""Scripts on a GPU that is none: what mixes devices is an error, and what CUDA allows is none."""

import json
import shutil
import subprocess

import pytest
from support.paths import ROOT

pytestmark = pytest.mark.real
PACKAGE = ROOT / "runner" / "authoring" / "pretended_gpu"
TRAIN = """
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
x, y = torch.randn(32, 6), torch.randint(3, (32,))
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)).to(device)
{before}
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(3):
    optimizer.zero_grad()
    loss = {loss}
    loss.backward()
    optimizer.step()
print({printed})
"""
LOSS = "F.cross_entropy(net(x.to(device)), y.to(device))"


def train(before="", loss=LOSS, printed="round(loss.item(), 4)"):
    return TRAIN.format(before=before, loss=loss, printed=printed)


PASSED = {
    "all on the GPU": train(),
    "moved by cuda": train("x, y = x.cuda(), y.cuda()", "F.cross_entropy(net(x), y)"),
    "made there": train(
        "weight = torch.ones(3, device=device)",
        "F.cross_entropy(net(x.to(device)), y.to(device), weight=weight)",
    ),
    "made like another": train(
        "x = x.to(device); noise = torch.zeros_like(x) + x.new_zeros(6) + x.new_tensor([0.0])",
        "F.cross_entropy(net(x + noise), y.to(device))",
    ),
    "indices on the CPU": train(
        "order = torch.randperm(32); x, y = x.to(device), y.to(device)",
        "F.cross_entropy(net(x[order]), y[order])",
    ),
    "a number on the CPU": train("scale = torch.tensor(2.0)", f"scale * {LOSS}"),
    "one-hot targets": train(
        loss="F.mse_loss(net(x.to(device)), F.one_hot(y.to(device), 3).float())"
    ),
    "a split of which a part is used": train(
        loss="F.cross_entropy(net(x.to(device).split(3, 1)[0].repeat(1, 2)), y.to(device))"
    ),
    "an empty tensor": train(
        "x = torch.cat([torch.empty(0, 6, device=device), x.to(device)])",
        "F.cross_entropy(net(x), y.to(device))",
    ),
    "moved with gradients": train(
        "scale = nn.Parameter(torch.ones(6))",
        "F.cross_entropy(net(x.to(device) * scale.to(device)), y.to(device))",
        "scale.grad.device.type",
    ),
    "a recurrent network": train(
        "body = nn.GRU(6, 8, batch_first=True).to(device)",
        "F.cross_entropy(net[2](body(x.to(device)[:, None])[0][:, 0]), y.to(device))",
    ),
    "a copy": train(
        "import copy; net = copy.deepcopy(net)",
    ),
    "a checkpoint": train(
        "torch.save(net.state_dict(), 'net.pt')\n"
        "net.load_state_dict(torch.load('net.pt', map_location=device))",
    ),
    "read on the CPU": train(printed="net(x.to(device)).detach().cpu().numpy().shape"),
    "compiled": train("net = torch.compile(net)"),
    "compiled by Dynamo itself": train(
        "import torch._dynamo; net = torch._dynamo.optimize('eager')(net)"
    ),
    "a scaler": train("torch.cuda.synchronize(); torch.cuda.manual_seed(0)"),
    "a device of its own": train(
        loss="F.cross_entropy(net(x.to(next(net.parameters()).device)), y.to(device))"
    ),
}
MIXED = {
    "inputs stay": train(loss="F.cross_entropy(net(x), y.to(device))"),
    "targets stay": train(loss="F.cross_entropy(net(x.to(device)), y)"),
    "weights of classes": train(
        "weight = torch.ones(3)",
        "F.cross_entropy(net(x.to(device)), y.to(device), weight=weight)",
    ),
    "places": train(
        "x = x.to(device)", "F.cross_entropy(net(x + torch.arange(6) * 0.0), y.to(device))"
    ),
    "a checkpoint on the CPU": train(
        "torch.save(x.to(device), 'x.pt'); mean = torch.load('x.pt', map_location='cpu').mean(0)",
        "F.cross_entropy(net(x.to(device) - mean), y.to(device))",
    ),
    "taken off": train(loss="F.cross_entropy(net(x.to(device)).cpu(), y.to(device))"),
    "an array": train(printed="net(x.to(device)).detach().numpy().shape"),
}
OTHERS = {
    "no optimizer": ("print(1)", "not checkable"),
    "a crash": (train(loss=f"{LOSS} + undefined"), "crashed"),
    "a crash where compilation is left out": (
        train("net = torch.compile(net)", f"{LOSS} + undefined"),
        "not checkable",
    ),
    "the driver is asked": (train("torch.cuda.Stream()"), "not checkable"),
}


# torch is imported once: each script runs in a child.
FORKING = """
import os, sys, runpy
from pathlib import Path
import torch

sys.path.insert(0, os.getcwd())
for folder in sorted(Path().glob("*/script.py")):
    child = os.fork()
    if not child:
        os.chdir(folder.parent)
        sys.stdout = open("stdout", "w")
        sys.argv = ["pretended_gpu", "script.py", "config.json", "60"]
        runpy.run_module("pretended_gpu", run_name="__main__")
        sys.stdout.close()
        os._exit(0)
    os.waitpid(child, 0)
"""
TEXTS = {
    **{f"passed {name}": text for name, text in PASSED.items()},
    **{f"mixed {name}": text for name, text in MIXED.items()},
    **{f"other {name}": text for name, (text, _) in OTHERS.items()},
    "on the CPU": train().replace('"cuda" if torch.cuda.is_available() else "cpu"', '"cpu"'),
}


@pytest.fixture(scope="module")
def answers(torch_python, tmp_path_factory):
    """What is said of each text, and what it printed."""
    folder = tmp_path_factory.mktemp("scripts")
    shutil.copytree(PACKAGE, folder / "pretended_gpu")
    for number, text in enumerate(TEXTS.values()):
        (folder / f"{number:02}").mkdir()
        (folder / f"{number:02}" / "script.py").write_text(text)
    subprocess.run([torch_python, "-c", FORKING], cwd=folder, check=True, capture_output=True)
    found = {}
    for number, name in enumerate(TEXTS):
        directory = folder / f"{number:02}"
        answer = json.loads((directory / "device.json").read_text())
        found[name] = answer, (directory / "stdout").read_text()
    return found


@pytest.mark.parametrize("name", PASSED)
def test_what_keeps_to_the_device_passes(answers, name):
    answer, _ = answers[f"passed {name}"]
    assert answer == {"status": "passed", "reason": "", "steps": 3, "whole": True}


@pytest.mark.parametrize("name", MIXED)
def test_what_mixes_devices_is_a_device_error(answers, name):
    answer, _ = answers[f"mixed {name}"]
    assert answer["status"] == "device error"
    assert "cuda:0" in answer["reason"]


@pytest.mark.parametrize("name", OTHERS)
def test_what_cannot_be_told_is_no_pass(answers, name):
    assert answers[f"other {name}"][0]["status"] == OTHERS[name][1]


def test_the_numbers_are_those_of_the_cpu(answers):
    printed = answers["passed all on the GPU"][1]
    assert printed
    assert printed == answers["on the CPU"][1]


def test_a_gradient_goes_back_to_the_device_of_its_tensor(answers):
    assert answers["passed moved with gradients"][1] == "cpu\n"


def test_what_is_stopped_by_the_clock_has_passed_so_far(torch_python, tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "pretended_gpu")
    (tmp_path / "script.py").write_text(train().replace("range(3)", "range(10**9)"))
    argv = [torch_python, "-m", "pretended_gpu", "script.py", "config.json", "4"]
    subprocess.run(argv, cwd=tmp_path, check=True, capture_output=True)
    answer = json.loads((tmp_path / "device.json").read_text())
    assert answer["status"] == "passed"
    assert not answer["whole"]
    assert answer["steps"] > 3
