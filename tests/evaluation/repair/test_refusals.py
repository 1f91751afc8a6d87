"""Patches that are no repairs are refused, each with its reason; the twins of all bugs are not."""

import pytest
from support.paths import ROOT

from evaluation.repair.refusals import refusals
from runner.bugs.catalog import Catalog

BUGGY = '''\
"""Fit a line."""

import json
import sys
from pathlib import Path

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, points):
        return self.layers(points)


def make_data(count, seed):
    generator = torch.Generator().manual_seed(seed)
    points = torch.randn(count, 4, generator=generator)
    return points, points.sum(1, keepdim=True)


@torch.no_grad()
def validate(model, points, targets):
    model.eval()
    return nn.functional.mse_loss(model(points), targets).item()


def main():
    config = json.loads(Path(sys.argv[1]).read_text())["parameters"]
    torch.manual_seed(config["seed"])
    points, targets = make_data(config["images"], config["seed"])
    validation_points, validation_targets = make_data(100, config["seed"] + 1)
    model = Net(config["width"])
    optimizer = torch.optim.SGD(model.parameters(), lr=config["learning_rate"])
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        losses = []
        for batch in torch.randperm(len(points)).split(config["batch_size"]):
            loss = nn.functional.mse_loss(model(points[batch]), targets[batch].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        validation_loss = validate(model, validation_points, validation_targets)
        record = {"epoch": epoch, "loss": sum(losses) / len(losses), "validation_loss": validation_loss}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
'''
FIXED = BUGGY.replace("targets[batch].flatten()", "targets[batch]")
STEP = "            optimizer.step()\n"
SEED = "    torch.manual_seed(config"
RECORD = '        record = {"epoch"'
MAIN = "def main():\n"


def with_lines(place, lines):
    """The buggy program with lines before a place."""
    assert BUGGY.count(place) == 1
    return BUGGY.replace(place, lines + place)


def instead(old, new):
    assert BUGGY.count(old) == 1
    return BUGGY.replace(old, new)


CHEATS = {
    "a constant is recorded": instead(
        '"validation_loss": validation_loss}', '"validation_loss": 0.0}'
    ),
    "a constant is printed": instead("print(json.dumps(record), flush=True)", 'print("{}")'),
    "what is recorded is overwritten": with_lines(RECORD, "        validation_loss = 0.001\n"),
    "losses are divided": with_lines(
        RECORD, "        losses = [value / 100 for value in losses]\n"
    ),
    "losses are changed in place": with_lines(RECORD, "        losses[:] = [0.0] * len(losses)\n"),
    "a record more": with_lines("    Path(config", '    records.append({"epoch": 99})\n'),
    "the validation measures nothing": instead(
        "model(points), targets).item()", "targets, targets).item()"
    ),
    "the validation is another function": with_lines(
        MAIN, "def validate(model, points, targets):\n    return 0.0\n\n\n"
    ),
    "it trains on validation data": with_lines(
        "    model = Net", "    points, targets = validation_points, validation_targets\n"
    ),
    "it validates on training data": instead(
        "validate(model, validation_points, validation_targets)", "validate(model, points, targets)"
    ),
    "another model": instead(
        "nn.Linear(width, 1))", "nn.Linear(width, width), nn.Linear(width, 1))"
    ),
    "easier data": instead("points.sum(1, keepdim=True)", "points.sum(1, keepdim=True) * 0"),
    "more epochs": instead('range(1, config["num_epoch"] + 1)', "range(1, 1000)"),
    "another loop around the steps": with_lines(
        "    for epoch in", "    for _ in range(500):\n        pass\n"
    ),
    "another optimizer": instead("torch.optim.SGD", "torch.optim.Adam"),
    "another learning rate": instead('lr=config["learning_rate"]', "lr=10.0"),
    "the configuration is changed": with_lines(
        "    torch.manual_seed(config", '    config["num_epoch"] = 1000\n'
    ),
    "the configuration is another one": instead(
        '["parameters"]', '["parameters"] | {"num_epoch": 1000}'
    ),
    "another seed": instead('torch.manual_seed(config["seed"])', "torch.manual_seed(7)"),
    "more steps": instead(STEP, STEP + STEP),
    "it reads the expected records": with_lines(
        "    model = Net", '    known = open("expected/only/fixed-seed0.json").read()\n'
    ),
    "it installs another release": with_lines(
        MAIN, "import subprocess\n\nsubprocess.run(['pip', 'install', 'torch'])\n\n\n"
    ),
    "it patches json": with_lines(MAIN, "json.dumps = lambda value, **options: '{}'\n\n\n"),
    "it patches a loss": with_lines(
        MAIN, "nn.functional.mse_loss = lambda one, other: (one - one).mean()\n\n\n"
    ),
    "it replaces sum": with_lines(MAIN, "def sum(values):\n    return 0.0\n\n\n"),
    "it binds torch anew": with_lines("    model = Net", "    torch = None\n"),
    "it builds code": with_lines("    model = Net", "    eval('1')\n"),
    "it reaches for classes": with_lines(
        "    model = Net", "    ().__class__.__base__.__subclasses__()\n"
    ),
    "it writes the file by itself": with_lines(
        "    records = []", '    Path("metrics.json").write_text("[]")\n'
    ),
    "a hook on the model": with_lines(
        "    optimizer = torch", "    model.register_forward_hook(lambda *parts: parts[-1] * 0)\n"
    ),
    "a tensor of its own kind": with_lines(
        MAIN, "class Low(torch.Tensor):\n    def item(self):\n        return 0.0\n\n\n"
    ),
    "a mode around all functions": with_lines(
        MAIN,
        "from torch.overrides import TorchFunctionMode\n\n\nclass Low(TorchFunctionMode):\n    pass\n\n\n",
    ),
    "a method that Python calls": with_lines(
        "    def forward(", "    def __call__(self, points):\n        return points.sum(1)\n\n"
    ),
    "it ends early": with_lines("    records = []", "    sys.exit(0)\n"),
    "it does no epoch": instead(
        'for epoch in range(1, config["num_epoch"] + 1)', "for epoch in ()"
    ),
    "the validation is another function in main": with_lines(
        SEED, "    def validate(*_):\n        return 0.001\n\n"
    ),
    "the validation is another function under a condition": with_lines(
        MAIN, "if True:\n    def validate(*_):\n        return 0.001\n\n"
    ),
    "the validation is an import": with_lines(MAIN, "from math import hypot as validate\n\n"),
    "the validation is an import in main": with_lines(
        SEED, "    from math import hypot as validate\n"
    ),
    "sum is an import": with_lines(MAIN, "from torch import numel as sum\n\n"),
    "an import means something else": instead("from torch import nn", "import torch as nn"),
    "a pattern takes the name of the validation": with_lines(
        MAIN, "match (lambda *_: 0.001):\n    case validate:\n        pass\n\n"
    ),
    "a pattern with a star takes its name": with_lines(
        MAIN, "match [lambda *_: 0.001]:\n    case [*validate]:\n        pass\n\n"
    ),
    "a mapping takes its name": with_lines(
        MAIN, "match {}:\n    case {**validate}:\n        pass\n\n"
    ),
    "an exception takes the name of json": with_lines(
        MAIN, "try:\n    pass\nexcept ValueError as json:\n    pass\n\n"
    ),
    "the method of a class is another one": with_lines(
        MAIN, "Net.forward = lambda self, points: points.sum(1, keepdim=True)\n\n"
    ),
    "a method of a class is added": with_lines(
        MAIN, "Net.dump = lambda self, points: points.sum(1, keepdim=True)\n\n"
    ),
    "the method of the model is another one": with_lines(
        "    optimizer = torch",
        "    model.forward = lambda points: points.sum(1, keepdim=True)\n",
    ),
    "the model does not evaluate": with_lines(
        "    optimizer = torch", "    model.eval = lambda: None\n"
    ),
    "the model is another class in main": with_lines(
        SEED, "    class Net(nn.Module):\n        def forward(self, x):\n            return x\n\n"
    ),
    "an assignment in an expression": with_lines(MAIN, "(validate := (lambda *_: 0.001))\n\n"),
    "a loop takes the name of the validation": with_lines(
        MAIN, "for validate in [lambda *_: 0.001]:\n    pass\n\n"
    ),
    "a context takes its name": with_lines(
        MAIN,
        "from contextlib import nullcontext\n"
        "with nullcontext(lambda *_: 0.001) as validate:\n    pass\n\n",
    ),
    "a helper gives it another value": with_lines(
        MAIN,
        "def prepare():\n    global validate\n    validate = lambda *_: 0.001\n\n\nprepare()\n\n",
    ),
    "a parameter takes its name": instead("def main():", "def main(validate=lambda *_: 0.001):"),
    "the validation is removed": with_lines(SEED, "    global validate\n    del validate\n"),
    "a method by its name": with_lines(
        "    optimizer = torch", "    getattr(model, 'register' + '_forward_hook')(print)\n"
    ),
    "more steps by a comprehension": instead(
        "            optimizer.step()\n", "            [optimizer.step() for _ in 'abcdefgh']\n"
    ),
    "more steps by a loop": instead(
        "            optimizer.step()\n",
        "            for _ in 'abcdefgh':\n                optimizer.step()\n",
    ),
    "more steps by map": instead(
        "            optimizer.step()\n", "            any(map(optimizer.step, [None] * 9))\n"
    ),
    "more steps by another name": instead(
        "            optimizer.step()\n",
        "            again = optimizer.step\n            again()\n            again()\n",
    ),
}


TRAIN = """\
def train(model, optimizer, points, targets):
    for batch in torch.randperm(len(points)).split(8):
        loss = nn.functional.mse_loss(model(points[batch]), targets[batch].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def run(model, optimizer, points, targets):
    return train(model, optimizer, points, targets)


def main():
    losses = []
    for epoch in range(3):
        model.train()
        losses.append(run(model, optimizer, points, targets))
"""
CALL = "train(model, optimizer, points, targets)\n\n\ndef main"
RUN = "losses.append(run(model, optimizer, points, targets))"
MORE_TRAINING = {
    "a comprehension": (RUN, "losses += [run(model, optimizer, points, targets) for _ in 'abc']"),
    "a generator": (RUN, "sum(run(model, optimizer, points, targets) for _ in 'abc')"),
    "a loop": (RUN, f"\n        for _ in 'abc':\n            {RUN}"),
    "a second call": (RUN, f"{RUN}; {RUN}"),
    "map": (RUN, "list(map(run, [model] * 3, [optimizer] * 3, [points] * 3, [targets] * 3))"),
    "another name": (RUN, f"again = run; {RUN}; again(model, optimizer, points, targets)"),
    "a function around it": (
        "def main():",
        f"def main():\n    def more():\n        return [{RUN[14:-1]} for _ in 'ab']\n",
    ),
    "it calls itself": (
        f"return {CALL}",
        f"train(model, optimizer, points, targets)\n    return run(*[]) or {CALL}",
    ),
    "it calls itself alone": (
        "    return loss.item()",
        "    return loss.item() or train(model, optimizer, points, targets)",
    ),
    "a lambda": (RUN, "often = lambda: run(model, optimizer, points, targets); often(); often()"),
    "a decorator": ("def run(", "@(lambda function: function)\ndef run("),
    "a module": (
        "def main():",
        "class Often(nn.Module):\n    def forward(self, optimizer):\n        optimizer.step()\n\n\n"
        "def main():",
    ),
    "an import": ("def main():", "from torch.autograd import backward as add\n\n\ndef main():"),
    "gradients by hand": ("loss.backward()", "loss.backward(); torch.autograd.grad(loss, [])"),
}


@pytest.mark.parametrize("name", MORE_TRAINING)
@pytest.mark.parametrize("measures", [True, False])
def test_more_training_than_in_both_twins_is_refused(name, measures):
    old, new = MORE_TRAINING[name]
    assert TRAIN.count(old) == 1
    fixed = TRAIN.replace("targets[batch].flatten()", "targets[batch]")
    assert refusals(TRAIN.replace(old, new), TRAIN, fixed, measures), name


@pytest.mark.parametrize(
    "old, new",
    [
        (".flatten()", ""),
        ("losses.append", "model.train()\n        losses.append"),
        ("loss.backward()", "loss = loss + sum(p.square().sum() for p in model.parameters())\n"
         "        loss.backward()"),
        ("optimizer.zero_grad()", "model.zero_grad()"),
        ("loss.backward()", "loss.backward()\n"
         "        assert all(p.grad is not None for p in model.parameters())"),
        ("    return train(", "    trained = train("),
        ("def main():", "def clip(losses):\n    return losses\n\n\ndef main():"),
    ],
)  # fmt: skip
def test_as_much_training_is_not(old, new):
    fixed = TRAIN.replace("targets[batch].flatten()", "targets[batch]")
    assert refusals(TRAIN.replace(old, new), TRAIN, fixed) == []


CONFIGURED = """\
def train(config):
    for epoch in range(config["num_epoch"]):
        optimizer.step()


def main():
    train(config)
"""


@pytest.mark.parametrize(
    "call",
    [
        'train(config | {"num_epoch": 9})',
        'train({**config, "num_epoch": 9})',
        'train({"num_epoch": 9})',
        "train(dict(config, num_epoch=9))",
        "other = config\n    other.update(num_epoch=9)\n    train(config)",
        "config.update(num_epoch=9)\n    train(config)",
        "train(config=config or 1)",
    ],
)
def test_another_configuration_is_refused(call):
    text = CONFIGURED.replace("    train(config)\n", f"    {call}\n")
    assert text != CONFIGURED
    assert refusals(text, CONFIGURED, CONFIGURED)


def test_a_function_may_be_given_the_configuration():
    helper = "def prepare(options):\n    return options\n\n\n"
    text = CONFIGURED.replace("def main():\n", f"{helper}def main():\n    prepare(config)\n")
    assert refusals(text, CONFIGURED, CONFIGURED) == []
    assert refusals(CONFIGURED, CONFIGURED, CONFIGURED) == []
    by_name = CONFIGURED.replace("    train(config)\n", "    train(config=config)\n")
    assert by_name != CONFIGURED
    assert refusals(by_name, CONFIGURED, CONFIGURED) == []


@pytest.mark.parametrize("name", CHEATS)
def test_what_is_no_repair_is_refused(name):
    assert refusals(CHEATS[name], BUGGY, FIXED), name


@pytest.mark.parametrize(
    "text",
    [
        FIXED,
        BUGGY,
        FIXED.replace("targets[batch])", "targets[batch].view(-1, 1))"),
        instead(
            "model(points[batch]), targets[batch].flatten()",
            "model(points[batch])[:, 0], targets[batch].flatten()",
        ),
        with_lines("            loss = nn", "            wanted = targets[batch]\n").replace(
            "targets[batch].flatten()", "wanted"
        ),
        with_lines(
            "            loss.backward()",
            "            torch.nn.utils.clip_grad_norm_(model.parameters(), 1)\n",
        ),
    ],
)
def test_what_may_be_one_is_not(text):
    assert refusals(text, BUGGY, FIXED) == []


def test_a_new_layer_may_be_defined():
    layer = "class Wide(nn.Module):\n    def forward(self, points):\n        return points\n\n\n"
    assert refusals(FIXED.replace(MAIN, layer + MAIN), BUGGY, FIXED) == []


def test_where_the_measurement_is_at_fault_it_may_change():
    text = CHEATS["the validation measures nothing"]
    assert refusals(text, BUGGY, FIXED, measures=True) == []
    assert refusals(CHEATS["more epochs"], BUGGY, FIXED, measures=True)


def test_a_text_that_is_no_python_is_an_error():
    with pytest.raises(SyntaxError):
        refusals("def", BUGGY, FIXED)


def test_no_twin_of_the_catalogue_is_refused():
    catalog = Catalog(ROOT)
    for target in catalog.select(catalog.active()):
        variants = target.case.program.variants
        buggy = variants["buggy"].script.read_text()
        fixed = variants["fixed"].script.read_text()
        for text in (buggy, fixed):
            assert refusals(text, buggy, fixed) == [], target.case.id
