"""Where single numbers are watched, programs with Dynamo,
TorchScript or contexts of devices do what they do alone.
"""

import json
import subprocess

import pytest
from support import toys
from support.paths import ROOT

from evaluation.keys import KIT
from runner.environments import builder, spec
from runner.progress.lines import on_stderr

# Older and newer than what became of Dynamo with torch 2.4.
ENVIRONMENTS = ("torch-2.2.2", "torch-2.5.1", "torch-2.13.0")
PROGRAM = """
import torch._dynamo
from torch._dynamo.utils import counters


def graphs(function, calls, **options):
    torch._dynamo.reset()
    compiled, before = torch.compile(function, **options), counters["stats"]["unique_graphs"]
    results = [compiled(*each).tolist() for each in calls]
    print(function.__name__, counters["stats"]["unique_graphs"] - before, results)


def read(x):
    return x + x.sum().item()


def tensors(x):
    return x * torch.tensor(2.0) + torch.tensor([1, 2, 3]).sum()


def several(x):
    return x.detach() + x.sum().item() + float(x.mean()) + x


def scaled(x, factor):
    return x * factor + x


def unbacked(x):
    return x.nonzero() + 1


points = [(torch.ones(3 + n, requires_grad=True),) for n in range(3)]
graphs(read, points[:1], backend="eager")
graphs(tensors, points[:1], backend="aot_eager", fullgraph=True)
graphs(several, points, backend="aot_eager")
torch._dynamo.config.cache_size_limit = 2
graphs(scaled, [(torch.ones(n), float(n)) for n in range(1, 5)], backend="eager", dynamic=False)
torch._dynamo.config.capture_dynamic_output_shape_ops = True
graphs(unbacked, [(torch.tensor([0.0, 1, 2]),)], backend="eager", fullgraph=True)


@torch.jit.script
def scripted(x):
    return x + torch.tensor(2.0)


print(scripted(torch.ones(2)))
with torch.device("meta"):
    print(torch.tensor([1.0]).device, torch.zeros(1).device)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.cuda.amp.GradScaler(enabled=False)
loss = model(torch.ones(4, 2)).mean()
scaler.scale(outputs=loss).backward()
scaler.unscale_(optimizer=optimizer)
scaler.step(optimizer=optimizer)
print(model.weight)
"""


@pytest.mark.real
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_what_is_done_with_numbers_is_what_it_is_alone(tmp_path, name):
    python = builder.build(spec.load(ROOT, name), on_stderr()).python
    (tmp_path / "program.py").write_text(toys.HEAD + PROGRAM)
    argv = [KIT / "launcher", "out.json", "--monitor", toys.MONITOR, "program.py"]
    runs = [
        subprocess.run(
            [python, "-W", "ignore", *command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
        for command in (["program.py"], argv)
    ]
    assert [run.returncode for run in runs] == [0, 0], runs[0].stderr + runs[1].stderr
    assert runs[0].stdout == runs[1].stdout
    report = json.loads((tmp_path / "out.json").read_text())
    assert report["error"] is None
    assert not [alarm for alarm in report["alarms"] if alarm["severity"] == "error"]
