"""The repairer by templates: each cure on a text that breaks its invariant."""

import argparse
import ast
import importlib

import pytest
from support.paths import ROOT

from evaluation.exporting import TASKS
from evaluation.repair.tasks import repairable, write_tasks
from evaluation.watching import invariants
from runner.bugs.catalog import Catalog
from runner.environments import spec

HEAD = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
OPTIMIZER = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
LOOP = OPTIMIZER + "for x, y in loader:\n"


@pytest.fixture(scope="module")
def cures():
    with pytest.MonkeyPatch.context() as patching:
        patching.syspath_prepend(ROOT / "benchmarks")
        yield importlib.import_module("templates.cures")


@pytest.fixture
def repairer(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("template_repairer")


# By the invariant: texts with the accused line marked by `# HERE`, and what becomes of them.
TEXTS = {
    "stale-gradients": [
        (
            LOOP + "    loss = f(x)\n    loss.backward()  # HERE\n    optimizer.step()\n",
            LOOP + "    loss = f(x)\n    optimizer.zero_grad()\n    loss.backward()  # HERE\n"
            "    optimizer.step()\n",
        ),
        (
            OPTIMIZER + "for big in batches:\n    for x in big:\n"
            "        f(x).backward()  # HERE\n    optimizer.step()\n",
            OPTIMIZER + "for big in batches:\n    for x in big:\n"
            "        f(x).backward()  # HERE\n    optimizer.step()\n    optimizer.zero_grad()\n",
        ),
    ],
    "no-gradient": [
        (
            LOOP + "    f(x).backward()\n    optimizer.zero_grad()\n    optimizer.step()  # HERE\n",
            LOOP + "    optimizer.zero_grad()\n    f(x).backward()\n    optimizer.step()  # HERE\n",
        ),
        (
            LOOP + "    optimizer.step()  # HERE\n    f(x).backward()\n",
            LOOP + "    f(x).backward()\n    optimizer.step()\n",
        ),
    ],
    "discarded-gradients": [
        (
            LOOP + "    optimizer.zero_grad()  # HERE\n    f(x).backward()\n"
            "    if full(x):\n        optimizer.step()\n",
            LOOP + "    f(x).backward()\n"
            "    if full(x):\n        optimizer.step()\n        optimizer.zero_grad()\n",
        )
    ],
    "clip": [
        (
            "parameters = model.parameters()\n"
            "norm = nn.utils.clip_grad_norm_(parameters, 1)  # HERE\n",
            "parameters = list(model.parameters())\n"
            "norm = nn.utils.clip_grad_norm_(parameters, 1)  # HERE\n",
        )
    ],
    "clip-after-step": [
        (
            LOOP + "    f(x).backward()\n    optimizer.step()\n"
            "    nn.utils.clip_grad_norm_(model.parameters(), 1)  # HERE\n",
            LOOP + "    f(x).backward()\n"
            "    nn.utils.clip_grad_norm_(model.parameters(), 1)\n    optimizer.step()\n",
        )
    ],
    "scaled-clip": [
        (
            LOOP + "    nn.utils.clip_grad_norm_(model.parameters(), 1)  # HERE\n"
            "    scaler.step(optimizer)\n",
            LOOP + "    scaler.unscale_(optimizer)\n"
            "    nn.utils.clip_grad_norm_(model.parameters(), 1)  # HERE\n"
            "    scaler.step(optimizer)\n",
        )
    ],
    "never-steps": [
        (
            LOOP + "    f(x).backward()  # HERE\n",
            LOOP + "    f(x).backward()  # HERE\n    optimizer.step()\n",
        )
    ],
    "lost-parameters": [
        (
            OPTIMIZER + "model.head = nn.Linear(2, 2)  # HERE\n",
            "model.head = nn.Linear(2, 2)  # HERE\n" + OPTIMIZER,
        )
    ],
    "forgotten-state": [
        (
            "for x in data:\n    optimizer = torch.optim.Adam(model.parameters())  # HERE\n"
            "    optimizer.step()\n",
            "optimizer = torch.optim.Adam(model.parameters())\nfor x in data:\n"
            "    optimizer.step()\n",
        )
    ],
    "unused-schedule": [
        (
            OPTIMIZER + "schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3)  # HERE\n"
            "for epoch in range(9):\n    for x in data:\n        optimizer.step()\n",
            OPTIMIZER + "schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3)  # HERE\n"
            "for epoch in range(9):\n    for x in data:\n        optimizer.step()\n"
            "    schedule.step()\n",
        )
    ],
    "early-schedule": [
        (
            "for epoch in range(9):\n    for x in data:\n        scheduler.step()  # HERE\n",
            "for epoch in range(9):\n    for x in data:\n        pass  # HERE\n"
            "    scheduler.step()\n",
        )
    ],
    "trains-in-evaluation-mode": [
        (
            LOOP + "    f(x).backward()  # HERE\nmodel.eval()\n",
            LOOP + "    model.train()\n    f(x).backward()  # HERE\nmodel.eval()\n",
        )
    ],
    "no-evaluation-mode": [
        (
            LOOP + "    f(x).backward()\nwith torch.no_grad():\n    model(x)  # HERE\n",
            LOOP + "    model.train()\n    f(x).backward()\nwith torch.no_grad():\n"
            "    model.eval()\n    model(x)  # HERE\n",
        )
    ],
    "noisy-teacher": [
        (
            "teacher = make()\n" + LOOP + "    wanted = teacher(x)  # HERE\n",
            "teacher = make()\n" + OPTIMIZER + "teacher.eval()\nfor x, y in loader:\n"
            "    wanted = teacher(x)  # HERE\n",
        )
    ],
    "dropout-in-evaluation": [
        (
            "class Net(nn.Module):\n    def forward(self, x):\n"
            "        return F.dropout(x, 0.5)\nNet()(1)  # HERE\n",
            "class Net(nn.Module):\n    def forward(self, x):\n"
            "        return F.dropout(x, 0.5, training=self.training)\nNet()(1)  # HERE\n",
        )
    ],
    "mode": [
        (
            "fast = torch.compile(model)\nfast.eval()  # HERE\n",
            "fast = torch.compile(model)\nfast._orig_mod.eval()  # HERE\n",
        )
    ],
    "probabilities-as-logits": [
        (
            "loss = F.cross_entropy(model(x).softmax(1), y)  # HERE\n",
            "loss = F.cross_entropy(model(x), y)  # HERE\n",
        ),
        (
            "model = nn.Sequential(nn.Linear(2, 2), nn.Softmax(1))\ncriterion = "
            "nn.CrossEntropyLoss()\nloss = criterion(model(x), y)  # HERE\n",
            "model = nn.Sequential(nn.Linear(2, 2))\ncriterion = "
            "nn.CrossEntropyLoss()\nloss = criterion(model(x), y)  # HERE\n",
        ),
        (
            "class Net(nn.Module):\n    def forward(self, x):\n"
            "        return torch.sigmoid(self.layer(x))\n"
            "loss = F.binary_cross_entropy_with_logits(net(x), y)  # HERE\n",
            "class Net(nn.Module):\n    def forward(self, x):\n"
            "        return self.layer(x)\n"
            "loss = F.binary_cross_entropy_with_logits(net(x), y)  # HERE\n",
        ),
    ],
    "bounded-logits": [
        (
            "out = F.relu(model(x))\nloss = F.cross_entropy(out, y)  # HERE\n",
            "out = model(x)\nloss = F.cross_entropy(out, y)  # HERE\n",
        )
    ],
    "log-probabilities": [
        (
            "loss = F.nll_loss(F.softmax(model(x), 1), y)  # HERE\n",
            "loss = F.nll_loss(F.log_softmax(model(x), 1), y)  # HERE\n",
        )
    ],
    "swapped-arguments": [
        (
            "loss = F.cross_entropy(y, model(x))  # HERE\n",
            "loss = F.cross_entropy(model(x), y)  # HERE\n",
        )
    ],
    "outer-difference": [
        (
            "loss = (out - y).square().mean()  # HERE\n",
            "loss = (out.reshape(y.shape) - y).square().mean()  # HERE\n",
        ),
        (
            "loss = F.mse_loss(model(x), y[batch])  # HERE\n",
            "loss = F.mse_loss(model(x).reshape(y[batch].shape), y[batch])  # HERE\n",
        ),
    ],
    "constant-term": [
        ("loss = a + 0.5 * b.item()  # HERE\n", "loss = a + 0.5 * b  # HERE\n"),
    ],
    "negated-loss": [
        (
            "loss = -F.mse_loss(x, y)\nloss.backward()  # HERE\n",
            "loss = F.mse_loss(x, y)\nloss.backward()  # HERE\n",
        )
    ],
    "learnt-target": [
        (
            "target = r + 0.9 * critic(z)\nloss = F.mse_loss(critic(x), target)  # HERE\n",
            "target = r + 0.9 * critic(z)\nloss = F.mse_loss(critic(x), (target).detach())  # HERE\n",
        )
    ],
    "learnt-reward": [
        (
            "loss = -(policy.log_prob(a) * (r - values)).mean()  # HERE\n",
            "loss = -(policy.log_prob(a) * ((r - values).detach())).mean()  # HERE\n",
        )
    ],
    "overwritten-loss": [
        (
            "for x in parts:\n    loss = F.mse_loss(x, y)  # HERE\n",
            "loss = 0\nfor x in parts:\n    loss = loss + F.mse_loss(x, y)  # HERE\n",
        )
    ],
    "counted-padding": [
        (
            "words = nn.Embedding(9, 4, padding_idx=0)\ncriterion = nn.CrossEntropyLoss()\n"
            "loss = criterion(out, y)  # HERE\n",
            "words = nn.Embedding(9, 4, padding_idx=0)\n"
            "criterion = nn.CrossEntropyLoss(ignore_index=0)\n"
            "loss = criterion(out, y)  # HERE\n",
        )
    ],
    "masked-mean": [
        (
            "loss = (F.cross_entropy(out, y) * mask).mean()  # HERE\n",
            'loss = (F.cross_entropy(out, y, reduction="none") * mask).sum() / (mask).sum()  # HERE\n',
        )
    ],
    "focal-of-mean": [
        (
            "ce = F.cross_entropy(out, y)\nloss = (1 - torch.exp(-ce)) ** 2 * ce  # HERE\n",
            'ce = F.cross_entropy(out, y, reduction="none")\n'
            "loss = ((1 - torch.exp(-ce)) ** 2 * ce).mean()  # HERE\n",
        )
    ],
    "same-batches": [
        (
            "sampler = DistributedSampler(data)\nfor epoch in range(3):\n"
            "    for x in loader:\n        step(x)  # HERE\n",
            "sampler = DistributedSampler(data)\nfor epoch in range(3):\n"
            "    sampler.set_epoch(epoch)\n    for x in loader:\n        step(x)  # HERE\n",
        )
    ],
    "sorted-classes": [
        (
            "loader = DataLoader(data, 16, shuffle=False)\nfor x in loader:\n    f(x)  # HERE\n",
            "loader = DataLoader(data, 16, shuffle=True)\nfor x in loader:\n    f(x)  # HERE\n",
        )
    ],
    "dropped-samples": [
        (
            "loader = DataLoader(data, drop_last=True)\nfor x in loader:\n    f(x)  # HERE\n",
            "loader = DataLoader(data, drop_last=False)\nfor x in loader:\n    f(x)  # HERE\n",
        )
    ],
    "stale-workers": [
        (
            "loader = DataLoader(data, persistent_workers=True)  # HERE\n",
            "loader = DataLoader(data, persistent_workers=False)  # HERE\n",
        )
    ],
    "repeated-draws": [
        (
            "for epoch in range(3):\n    torch.manual_seed(0)  # HERE\n    train()\n",
            "for epoch in range(3):\n    train()\n",
        )
    ],
    "changed-data": [
        ("image -= mean  # HERE\n", "image = image - (mean)  # HERE\n"),
        ("image.sub_(mean)  # HERE\n", "image = image.sub(mean)  # HERE\n"),
    ],
    "loads-itself": [
        (
            "best = model.state_dict()\nmodel.load_state_dict(best)  # HERE\n",
            "best = copy.deepcopy(model.state_dict())\nmodel.load_state_dict(best)  # HERE\n",
        )
    ],
    "shared-state": [
        (
            OPTIMIZER + "optimizer.load_state_dict(other.state_dict())  # HERE\n",
            OPTIMIZER + "optimizer.load_state_dict(copy.deepcopy(other.state_dict()))  # HERE\n",
        )
    ],
    "frozen-in-name": [
        ("net.body.require_grad = False  # HERE\n", "net.body.requires_grad_(False)  # HERE\n"),
    ],
    "frozen-moves": [
        (
            "for p in net.parameters():\n    p.requires_grad = False  # HERE\n",
            "for p in net.parameters():\n    p.requires_grad = False  # HERE\n    p.grad = None\n",
        )
    ],
    "swapped-decay": [
        ("slow.lerp_(fast, 0.99)  # HERE\n", "slow.lerp_(fast, 1 - (0.99))  # HERE\n"),
    ],
    "repeated-layer": [
        (
            "layers = [nn.Linear(2, 2)] * 3  # HERE\n",
            "layers = [nn.Linear(2, 2) for _ in range(3)]  # HERE\n",
        )
    ],
    "unregistered-module": [
        (
            "class Net(nn.Module):\n    def __init__(self):\n"
            "        self.parts = [nn.Linear(2, 2) for _ in range(3)]  # HERE\n",
            "class Net(nn.Module):\n    def __init__(self):\n        self.parts = "
            "torch.nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])  # HERE\n",
        )
    ],
    "discarded-result": [
        ("x.clamp(0, 1)  # HERE\n", "x = x.clamp(0, 1)  # HERE\n"),
    ],
    "ranks": [
        (
            "for x in data:\n    wrapped.module(x)  # HERE\n",
            "for x in data:\n    wrapped(x)  # HERE\n",
        )
    ],
    "shadow-step": [
        (OPTIMIZER + "f()  # HERE\n", OPTIMIZER.replace("0.1", "0.1, foreach=False") + "f()  # HERE\n")
    ],
    "compiled-differs": [
        (
            "@torch.compile\ndef f(x):\n    return x\ng = torch.compile(h, fullgraph=True)  # HERE\n",
            "def f(x):\n    return x\ng = h  # HERE\n",
        )
    ],
    "recompiles": [
        (OPTIMIZER + "f()  # HERE\n", OPTIMIZER.replace("0.1", "torch.tensor(0.1)") + "f()  # HERE\n")
    ],
    "evaluation-depends-on-grad": [
        ("f()  # HERE\n", "torch.backends.mha.set_fastpath_enabled(False)\nf()  # HERE\n"),
    ],
    "transparent-checkpoint": [
        (
            "y = checkpoint(f, x, use_reentrant=True, preserve_rng_state=False)  # HERE\n",
            "y = checkpoint(f, x, use_reentrant=False, preserve_rng_state=True)  # HERE\n",
        )
    ],
    "mixed-texts": [
        (
            "layer = nn.TransformerEncoderLayer(8, 2)  # HERE\n",
            "layer = nn.TransformerEncoderLayer(8, 2, batch_first=True)  # HERE\n",
        )
    ],
    "batchnorm-options": [
        (
            "norm = nn.BatchNorm1d(8, 0.99)  # HERE\n",
            "norm = nn.BatchNorm1d(8, momentum=1 - 0.99)  # HERE\n",
        )
    ],
}  # fmt: skip
SAME_CURE = {"clipped-parts": "clip-after-step", "backward-draws": "transparent-checkpoint"}
PAIRS = [(name, *pair) for name, pairs in TEXTS.items() for pair in pairs]


def accused(cures, name, text):
    lines = (HEAD + text).splitlines()
    return cures.Accusation(name, next(n for n, line in enumerate(lines, 1) if "# HERE" in line))


def without_imports(text):
    """A text behind the imports that a cure may have added."""
    return text.replace("import copy\n", "").removeprefix(HEAD).replace("  # HERE", "")


@pytest.mark.parametrize("name, text, cured", PAIRS)
def test_a_cure_makes_of_a_text_what_it_says(cures, name, text, cured):
    result = cures.repair(HEAD + text, [accused(cures, name, text)])
    assert result.failed == ()
    assert result.applied == (name,)
    assert without_imports(result.text) == cured.replace("  # HERE", "")
    ast.parse(result.text)


@pytest.mark.parametrize("name, text, cured", PAIRS)
def test_a_text_that_is_cured_is_cured_once(cures, name, text, cured):
    """A cure that finds nothing to mend either says so, or leaves what it wrote valid."""
    accusation = accused(cures, name, text)
    again = cures.repair(cures.repair(HEAD + text, [accusation]).text, [accusation])
    ast.parse(again.text)


def test_each_cure_is_tried_is_of_an_invariant_and_is_told_in_a_line(cures):
    assert {*TEXTS, *SAME_CURE} == set(cures.CURES)
    known = {item.name for item in invariants.read(ROOT / "detectors" / "sanitizer")}
    assert set(cures.CURES) <= known
    for name, text in cures.describe():
        assert text.endswith("."), name
        assert len(text) < 100, name
    for name, other in SAME_CURE.items():
        assert cures.CURES[name] is cures.CURES[other]


@pytest.mark.parametrize(
    "name, text",
    [
        ("probabilities-as-logits", "loss = F.cross_entropy(mystery(x), y)  # HERE\n"),
        ("sorted-classes", "for x in batches:\n    f(x)  # HERE\n"),
        ("stale-gradients", "for x in data: loss.backward(); optimizer.step()  # HERE\n"),
        ("skipped-token", "f()  # HERE\n"),
        ("never-steps", LOOP + "    f(x).backward()  # HERE\n    optimizer.step()\n"),
        ("loads-itself", "model.load_state_dict(torch.load(path))  # HERE\n"),
    ],
)
def test_what_no_cure_fits_stays_as_it_is_with_a_reason(cures, name, text):
    result = cures.repair(HEAD + text, [accused(cures, name, text)])
    assert result.text == HEAD + text
    assert result.applied == ()
    assert result.failed[0].startswith(f"{name}: ")


def test_two_cures_of_one_program(cures):
    text = (
        LOOP
        + "    loss = F.cross_entropy(f(x).softmax(1), y)\n    loss.backward()\n    optimizer.step()\n"
    )
    lines = [cures.Accusation("stale-gradients", 7), cures.Accusation("probabilities-as-logits", 6)]
    result = cures.repair(HEAD + text, lines)
    assert result.applied == ("stale-gradients", "probabilities-as-logits")
    assert "cross_entropy(f(x), y)" in result.text
    assert "zero_grad" in result.text


def test_letters_of_several_bytes_do_not_shift_an_edit(cures):
    text = 'print("größer"); loss = F.cross_entropy(f(x).softmax(1), y)  # HERE\n'
    name = "probabilities-as-logits"
    result = cures.repair(HEAD + text, [accused(cures, name, text)])
    assert 'print("größer"); loss = F.cross_entropy(f(x), y)' in result.text


def test_patches_are_of_the_tasks_that_were_accused(repairer, capsys):
    program = HEAD + "loss = F.cross_entropy(model(x).softmax(1), y)\n"
    alarm = repairer.sanitizer_answers.Alarm
    tasks = [{"id": name, "files": {"program.py": program}} for name in "abc"]
    alarms = {
        "a": [alarm("probabilities-as-logits", "program.py", 4, "", None)],
        "b": [alarm("probabilities-as-logits", "other.py", 4, "", None)],
    }
    (patch,) = repairer.patches(tasks, alarms)
    assert (patch["id"], patch["model"]) == ("a", "templates")
    assert "softmax" not in patch["script"]
    assert "c: the sanitizer has not seen it" in capsys.readouterr().err


def test_records_know_a_program_by_its_digest(repairer, tmp_path):
    catalog = Catalog(ROOT)
    targets, _ = repairable(catalog)
    key = write_tasks(tmp_path, targets, catalog.root)
    tasks = repairer.sanitizer_answers.read_tasks(tmp_path / TASKS)
    sources = argparse.Namespace(committed=True, results=None, watch=False, detector="sanitizer-3")
    alarms = repairer.sanitizer_answers.alarms_of(tasks, sources)
    seen = [name for name in alarms if alarms[name]]
    assert len(tasks) > len(alarms) > len(seen) > 10
    (one_text,) = [task for task in tasks if key.tasks[task["id"]] == "PyTorch-115607/simple"]
    assert [alarm.code for alarm in alarms[one_text["id"]]] == ["shadow-step"]
    newer = one_text | {"packages": {"torch": "2.3.1"}}
    assert repairer.sanitizer_answers.alarms_of([newer], sources) == {}
    changed = [{**task, "parameters": {}} for task in tasks]
    assert repairer.sanitizer_answers.alarms_of(changed, sources) == {}


def test_the_environment_of_a_task_is_one_that_is_built(repairer, monkeypatch, tmp_path):
    answers = repairer.sanitizer_answers
    environment = spec.load(ROOT, "torch-2.2.2")
    packages = {"torch": environment.pins["torch"]}
    monkeypatch.setenv("TRAINBUGS_CACHE", str(tmp_path))
    assert answers.interpreter(environment.python, packages) is None
    built = spec.Built(environment, tmp_path, None, environment.python, None)
    monkeypatch.setattr(spec, "find", lambda item: built if item.name == "torch-2.2.2" else None)
    assert answers.interpreter(environment.python, packages) == built.python
    assert answers.interpreter(environment.python, {"torch": "0.0.1"}) is None
