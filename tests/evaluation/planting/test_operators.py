"""Operators: each puts its pattern into clean programs, in one place,
and leaves alone where it does not fit.
"""

import ast
from collections import Counter

import pytest
from support.paths import ROOT
from support.planting import plant_all

from evaluation.catalog import controls
from evaluation.planting.operators import OPERATORS, plant
from evaluation.rewriting.layout import parse_program
from evaluation.rewriting.twins import difference

CLEAN = """\
import torch
from torch import nn
from torch.nn import functional


class Net(nn.Module):
    def forward(self, x):
        return self.head(self.body(x))


def train(model, optimizer, inputs, labels):
    model.train()
    for batch in torch.randperm(len(labels)).split(8):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(inputs[batch]), labels[batch])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def outer(left, right):
    return (left - right.unsqueeze(1)).square().mean()


@torch.no_grad()
def evaluate(model, inputs, labels):
    return functional.cross_entropy(model(inputs), labels)


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
"""
OURS = [operator for operator in OPERATORS if not operator.name.startswith("dc-")]
# What is new, or where what is left out belongs: the line that a detector should name.
LINES = {
    "no-zero-grad": "loss = functional.cross_entropy(model(inputs[batch]), labels[batch])",
    "no-step": "nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
    "step-first": "optimizer.step()",
    "zero-grad-late": "optimizer.zero_grad()",
    "evaluation-mode": "model.eval()",
    "break-left-in": "break",
    "detached-loss": "loss.detach().requires_grad_().backward()",
    "negated-loss": "(-loss).backward()",
    "detached-body": "return self.head(self.body(x).detach())",
    "head-only": "optimizer = torch.optim.Adam(list(model.parameters())[-2:], lr=0.1)",
    "frozen-head": "for parameter in list(model.parameters())[-2:]:",
    "stale-parameters": "optimizer = torch.optim.Adam(model.parameters(), lr=0.1)",
    "clipped-away": "nn.utils.clip_grad_norm_(model.parameters(), 1.0 * 0.0001)",
    "softmax-first": (
        "loss = functional.cross_entropy(model(inputs[batch]).softmax(1), labels[batch])"
    ),
    "labels-apart": "loss = functional.cross_entropy(model(inputs[batch]), "
    "labels[batch][torch.randperm(len(labels[batch]))])",
    "broadcast": "return (left - right).square().mean()",
}


@pytest.mark.parametrize("operator", OURS, ids=lambda operator: operator.name)
def test_each_operator_plants_one_fault_and_says_where(operator):
    planted = plant(CLEAN, operator, 1)
    assert planted
    assert planted.line
    line = planted.text.splitlines()[planted.line - 1].strip()
    if operator.name == "break-left-in":
        assert line == "optimizer.step()"
        assert "\n        break\n" in planted.text
    else:
        assert line == LINES[operator.name]
    assert 1 <= difference([parse_program(CLEAN), parse_program(planted.text)]) <= 2
    assert plant(CLEAN, operator, 1) == planted
    assert plant("import torch\nprint(torch.ones(1))\n", operator, 1) is None


def test_there_are_at_least_ten_and_the_page_says_how_many():
    assert len(OURS) == 16
    assert "one of sixteen known fault patterns" in (ROOT / "docs/evaluate.md").read_text()
    assert len({operator.name for operator in OPERATORS}) == len(OPERATORS)
    assert len(LINES) == len(OURS)
    assert len({operator.title for operator in OPERATORS}) == len(OPERATORS)


def test_what_is_computed_for_the_records_only_is_no_place_for_a_fault():
    loss = "@torch.no_grad()\ndef evaluate(x, y):\n    return functional.cross_entropy(x, y)\n"
    assert not plant_all(f"import torch\nfrom torch.nn import functional\n{loss}", 1)


def test_the_published_fault_is_not_planted():
    buggy = CLEAN.replace("        optimizer.zero_grad()\n", "")
    assert "no-zero-grad" in {planted.operator.name for planted in plant_all(CLEAN, 1)}
    assert "no-zero-grad" not in {planted.operator.name for planted in plant_all(CLEAN, 1, buggy)}


def test_the_seed_decides_which_fault_comes_first():
    assert len({plant_all(CLEAN, seed)[0].operator.name for seed in range(20)}) > 5


def test_operators_fit_the_controls():
    """Every control takes some fault, and every operator but two fits some of them."""
    count = Counter()
    for target in controls.load(ROOT).targets():
        text = target.case.program.variants["fixed"].script.read_text()
        faults = plant_all(text, 1)
        assert faults, target.case.id
        for planted in faults:
            ast.parse(planted.text)
            count[planted.operator.name] += 1
    assert len(count) >= len(OURS) - 2
    assert count["no-zero-grad"] > 40
