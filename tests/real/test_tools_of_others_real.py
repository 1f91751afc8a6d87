"""Tools of others, called by their adapters: a toy that each one accuses, and one that it does not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.paths import ROOT

from evaluation.catalog import detectors
from evaluation.keys import KIT
from evaluation.model import Alarm
from evaluation.running.adapter import environment_of
from runner.environments import builder, spec
from runner.progress.lines import on_stderr

# Each line that begins with a word and a colon can be replaced by a toy.
PROGRAM = {
    "make": "model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))",
    "hold": "optimizer = torch.optim.Adam(model.parameters(), lr=0.01)",
    "data": "x = torch.randn(32, 8)\ny = x[:, :3].argmax(1)",
    "clear": "    optimizer.zero_grad()",
    "loss": "    loss = F.cross_entropy(model(x), y)",
    "step": "    loss.backward()\n    optimizer.step()",
}
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\ntorch.manual_seed(0)\n"
GOOD: dict[str, str] = {}
HALF = {"hold": "optimizer = torch.optim.Adam(model[0].parameters(), lr=0.01)"}
NAN = {"data": "x = torch.randn(32, 8)\nx[0, 0] = float('nan')\ny = torch.randint(3, (32,))"}
KEPT = {"clear": "    pass"}
WILD = {"hold": "optimizer = torch.optim.SGD(model.parameters(), lr=1e4)"}
# Losses that a tool is handed over: of a view, of a transposed view, and returned by the model.
VIEW = {"loss": "    loss = F.cross_entropy(model(x.view(4, 8, 8)).view(-1, 3), y)"}
TURNED = {"loss": "    loss = F.cross_entropy(model(x.view(4, 8, 8)).mT, y.view(4, 8))"}
RETURNED = {
    "make": "class Net(nn.Linear):\n"
    "    def forward(self, x, y):\n"
    "        logits = super().forward(x)\n"
    "        return logits, F.cross_entropy(logits, y)\n"
    "model = Net(8, 3)",
    "loss": "    loss = model(x, y)[1]",
}
WRITTEN = {"loss": "    loss = -model(x).log_softmax(1)[torch.arange(32), y].mean()"}
TWO = {
    "loss": "    output = model(x)\n"
    "    loss = F.cross_entropy(output, y) + F.mse_loss(output, torch.zeros(32, 3))"
}

# What a compiler could do, and a model that is right and draws random numbers.
OTHERWISE = {
    "make": "class Net(nn.Linear):\n"
    "    def forward(self, x):\n"
    "        out = super().forward(x)\n"
    "        return out * 1.01 if torch._dynamo.is_compiling() else out\n"
    "model = Net(8, 3)",
}
RANDOM = {
    "make": "model = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.Dropout(), "
    "nn.Linear(32, 3))"
}
COMPILED = {"make": "model = torch.compile(nn.Linear(8, 3))"}

ACCUSED = [
    ("torchtest2", HALF, "default", "optimizer_coverage"),
    ("torchtest2", HALF | VIEW, "no-overfit", "params_change"),
    ("eager-compiled", OTHERWISE, "default", "inductor"),
    ("eager-compiled", OTHERWISE, "aot-eager", "aot_eager"),
    ("torch-preflight", KEPT, "default", "TG003"),
    ("guardtower", HALF, "default", "optimizer_coverage"),
    ("guardtower", NAN, "errors-and-monitor", "live-nonfinite"),
    ("torcheck", NAN, "all", "nan"),
    ("torcheck", HALF, "all-and-refusal", "no-optimizer"),
    ("tinytorchtest", HALF, "default", "vars-change"),
    ("torchmortem", WILD, "critical", "gradient_flow"),
    ("mldoct", KEPT, "default", "missing_zero_grad"),
    ("traintools", NAN, "default", "gradients"),
    ("training-doctor", NAN, "default", "full lr_too_high"),
    ("losslint", NAN, "losses", "losses nan_inf"),
    ("preflight-ml", NAN, "default", "nan_inf_detection"),
]
NAMES = sorted({name for name, *_ in ACCUSED})
HANDED_OVER = ("eager-compiled", "torchtest2", "guardtower", "tinytorchtest", "preflight-ml")
# What it says of any program as small as these.
SMALL_TALK = {"torchmortem": "critical"}


def text_of(edits):
    parts = PROGRAM | edits
    lines = [HEAD, *(parts[name] for name in ("make", "hold", "data"))]
    loop = ["losses = []", "for number in range(40):", *(parts[name] for name in ("clear", "loss"))]
    return "\n".join(
        [*lines, *loop, parts["step"], "    losses.append(loss.item())", "print(losses)"]
    )


@pytest.fixture(scope="module")
def python():
    return builder.build(spec.load(ROOT, "torch-2.2.2"), on_stderr()).python


def ask(name, edits, python, folder):
    """The answer of a detector on a toy, and what the toy printed under it."""
    detector = detectors.load(ROOT, name)
    environment = environment_of(detector)
    built = builder.build(environment, on_stderr()) if environment else None
    (folder / "program").mkdir()
    (folder / "program" / "program.py").write_text(text_of(edits))
    printed = subprocess.run(
        [python, "program.py"], cwd=folder / "program", capture_output=True, text=True, check=True
    ).stdout
    losses = json.loads(printed.replace("nan", "NaN"))
    records = [{"iteration": n, "loss": loss} for n, loss in enumerate(losses, 1)]
    (folder / "losses.json").write_text(json.dumps(records))
    target = {
        "directory": str(folder / "program"),
        "script": "program.py",
        "arguments": [],
        "python": str(python),
        "launcher": str(KIT / "launcher"),
        "packages": packages_of(built),
        "metrics": str(folder / "losses.json"),
        "losses": str(folder / "losses.json"),
        "timeout_s": 300,
    }
    (folder / "target.json").write_text(json.dumps(target))
    program = [detector.directory / detector.program]
    if detector.monitor:
        program = [KIT / "monitor_adapter.py", detector.directory / detector.monitor]
    options = ["check", "--target", "target.json", "--state", ".", "--out", "answer.json"]
    environ = {**os.environ, "PYTHONPATH": str(KIT)}
    done = subprocess.run(
        [built.python if built else sys.executable, *program, *options],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads((folder / "answer.json").read_text())
    if "in_process" in detector.needs:
        # torchmortem makes a library print that numbers are not numbers.
        assert (folder / "launch.out").read_text().splitlines()[-1] == printed.strip()
    return detector, answer


def packages_of(built):
    if built is None:
        return []
    return [str(path) for path in built.directory.glob("lib/python*/site-packages")]


def codes(detector, answer, rule):
    assert answer["status"] == "ok", answer
    alarms = [
        Alarm(alarm["code"], alarm["message"], alarm["severity"], alarm["iteration"])
        for alarm in answer["alarms"]
    ]
    return {alarm.code for alarm in detector.alarm_rules[rule].counted(alarms)}


@pytest.mark.real
@pytest.mark.parametrize("name, edits, rule, code", ACCUSED)
def test_a_fault_that_it_knows_is_accused(python, tmp_path, name, edits, rule, code):
    detector, answer = ask(name, edits, python, tmp_path)
    assert code in codes(detector, answer, rule)


@pytest.mark.real
@pytest.mark.parametrize("name", NAMES)
def test_a_right_program_is_not(python, tmp_path, name):
    detector, answer = ask(name, GOOD, python, tmp_path)
    assert codes(detector, answer, SMALL_TALK.get(name, next(iter(detector.alarm_rules)))) == set()


@pytest.mark.real
@pytest.mark.parametrize("edits", [VIEW, TURNED, RETURNED], ids=["view", "turned", "returned"])
def test_a_loss_is_handed_over(python, tmp_path, edits):
    detector, answer = ask("guardtower", edits, python, tmp_path)
    assert codes(detector, answer, "default") == set()


@pytest.mark.real
@pytest.mark.parametrize("edits", [RANDOM, COMPILED], ids=["random", "compiled"])
def test_right_models_are_the_same_compiled(python, tmp_path, edits):
    detector, answer = ask("eager-compiled", edits, python, tmp_path)
    assert {rule for rule in detector.alarm_rules if codes(detector, answer, rule)} == set()
    assert answer["alarms"] == []


@pytest.mark.real
@pytest.mark.parametrize("edits", [WRITTEN, TWO], ids=["written", "two"])
def test_without_a_known_loss_there_is_nothing_to_hand_over(python, tmp_path, edits):
    _, answer = ask("guardtower", edits, python, tmp_path)
    assert answer["status"] == "unsupported"


@pytest.mark.parametrize("file", ["one_batch.py", "adapter.py"])
def test_files_of_one_name_are_the_same(file):
    folders = [Path(ROOT, "detectors", name) for name in HANDED_OVER]
    assert len({(folder / file).read_bytes() for folder in folders}) == 1
