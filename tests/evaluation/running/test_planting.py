"""Faults planted into toys: shown to detectors where they do harm,
each beside the program without it.
"""

import ast
import json
import os
import subprocess
import sys

import pytest
from support.detectors import write_detector
from support.paths import ROOT

from evaluation.catalog import detectors
from evaluation.planting import missing_calls
from evaluation.planting.edits import is_optimizer
from evaluation.planting.operators import OPERATORS
from evaluation.running import campaign
from evaluation.running.options import CampaignOptions
from evaluation.store.results import CheckStore

# Descends along a parabola; what it calls is what a script in torch missing_calls.
CLEAN = """\
import json
import random
import sys
from pathlib import Path


class Loss:
    def __init__(self, place):
        self.value = place.at ** 2

    def backward(self):
        place.slope += 2 * place.at


class Descent:
    at, slope = 8.0, 0.0

    def zero_grad(self):
        self.slope = 0.0

    def step(self):
        self.at -= RATE * self.slope


path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
config = json.loads(path.read_text())["parameters"]
place = Descent()
place.at += random.Random(config["seed"]).random()
records = []
for epoch in range(1, config["num_epoch"] + 1):
    place.zero_grad()
    loss = Loss(place)
    loss.backward()
    place.step()
    record = {"epoch": epoch, "loss": loss.value, "accuracy": RATE * epoch}
    print(json.dumps(record), flush=True)
    records.append(record)
Path(config["output"] + ".json").write_text(json.dumps(records))
"""
NEVER = "main(lambda target, state: {})"
SHOWS = """
    def check(target, state):
        return {"alarms": [alarm("text", Path(target.directory, target.script).read_text())]}
    main(check)
"""


@pytest.fixture
def plant(toy, tmp_path, monkeypatch):
    """Plant the faults of one operator, or of all that change the order of missing_calls,
    into the fixed toy.
    """
    toy.write("fixed.py", CLEAN.replace("RATE", "0.3"))
    toy.write("buggy.py", CLEAN.replace("RATE", "0.0"))

    def call(operator=None, seed=1, adapter=SHOWS):
        operators = tuple(
            entry
            for entry in OPERATORS
            if entry.edits.__module__ == missing_calls.__name__ and operator in (None, entry.name)
        )
        monkeypatch.setattr("evaluation.planting.operators.OPERATORS", operators)
        directory = write_detector(tmp_path / "shows", adapter)
        plan = CampaignOptions(
            [detectors.load(toy.root, str(directory))], overhead_on=None, plant=seed
        )
        return campaign.run(plan, toy.session())

    return call


def planted_faults(result):
    return json.loads((result.folder.parent / "planted.json").read_text())


def test_a_fault_that_does_harm_is_shown_beside_the_clean_program(plant, toy):
    result = plant("no-step")
    assert {(check.kind, check.bug, check.case, check.plant) for check in result.checks} == {
        (kind, "planted-Toy-1", "no-step", 1) for kind in ("buggy", "fixed")
    }
    texts = {check.kind: check.alarms[0].message for check in result.checks}
    buggy, fixed = (texts[kind].splitlines() for kind in ("buggy", "fixed"))
    lost = [line.strip() for line in fixed if line not in buggy]
    assert [line.split(".")[1] for line in lost] == ["step()"]
    assert "place" not in texts["fixed"].split("class")[0]
    shown = next(check for check in result.checks if check.kind == "buggy")
    assert shown.site.file == "program.py"
    assert shown.site.api == "torch.optim.Optimizer.step"
    assert shown.trigger == 1
    step = next(line for line in fixed if ".step()" in line)
    assert fixed[fixed.index(step) + 1] == buggy[shown.site.line - 1]
    (fault,) = planted_faults(result)
    assert fault["operator"] == "no-step"
    assert fault["harm"] is True
    assert CheckStore(toy.results.absolute() / "detectors").read().checks == []


def test_a_program_without_the_pattern_is_left_out(plant, capsys):
    result = plant("evaluation-mode")
    assert not result.checks
    assert "Toy-1/only: left out, no operator fits" in capsys.readouterr().err


def test_what_crashes_is_discarded(plant, toy, capsys):
    toy.write(
        "fixed.py",
        CLEAN.replace("RATE", "0.3").replace("place.slope += 2 * place.at", "place.slope = 1 / 0"),
    )
    assert not plant("no-step").checks
    messages = capsys.readouterr().err
    assert "planted-Toy-1/no-step: discarded, " in messages
    assert "crashed" in messages
    assert "planted faults: 0 do harm, 1 are discarded" in messages


def test_a_harmless_fault(plant, toy, capsys):
    toy.write("fixed.py", CLEAN.replace("RATE", "0.3").replace("place.slope += ", "place.slope = "))
    result = plant("no-zero-grad")
    assert not result.checks
    assert planted_faults(result)[0]["why"].startswith("loss, accuracy: not worse by more than")
    assert "planted faults: 0 do harm, 1 are discarded" in capsys.readouterr().err


def test_the_published_pair_is_not_touched(plant, toy):
    before = {path.name: path.read_bytes() for path in toy.directory.glob("*.py")}
    plant()
    assert {path.name: path.read_bytes() for path in toy.directory.glob("*.py")} == before


def test_is_optimizer_knows_which_calls_make_one():
    calls = {
        "torch.optim.Adam(model.parameters(), lr=1)": True,
        "optim.SGD(net.parameters())": True,
        "torch.optim.Adam(parameters)": False,
        "torch.optim.lr_scheduler.StepLR(optimizer.parameters(), 1)": False,
        "Adam()": False,
    }
    for text, expected in calls.items():
        call = ast.parse(text, mode="eval").body
        assert isinstance(call, ast.Call), text
        assert is_optimizer(call) is expected, text


def test_whoever_evaluates_is_left_no_file(tmp_path):
    code = "import evaluation.running.campaign"
    subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert not list(tmp_path.iterdir())
