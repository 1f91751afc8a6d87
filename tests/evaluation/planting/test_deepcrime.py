"""DeepCrime's operators: each changes one place of a clean program, and leaves alone where it does
not fit.
"""

import ast
from collections import Counter

import pytest
from support.paths import ROOT
from support.planting import plant_all

from evaluation.catalog import controls
from evaluation.planting.deepcrime import UNDONE
from evaluation.planting.operators import OPERATORS, plant
from evaluation.rewriting.layout import parse_program
from evaluation.rewriting.twins import difference

DEEPCRIME = [operator for operator in OPERATORS if operator.name.startswith("dc-")]
CLEAN = """\
import torch
from torch import nn
from torch.nn import functional


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)
        self.head = nn.Linear(8, 2, bias=False)
        self.act = nn.GELU()
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.head(self.dropout(self.act(self.body(x))))


def train(model, optimizer, loader):
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = functional.mse_loss(model(inputs), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


model = Net()
loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, betas=(0.9, 0.99), weight_decay=0.01)
"""
OPTIMIZER = "optimizer = torch.optim.{}(model.parameters(), {})"
LOADER = "loader = torch.utils.data.DataLoader({}, batch_size={}, shuffle=True)"
LINES = {
    "dc-change-label": "loss = functional.mse_loss(model(inputs), "
    "labels.where(torch.rand(len(labels)) < 0.5, labels.roll(1, 0)))",
    "dc-delete-training-data": LOADER.format(
        "torch.utils.data.Subset(data, range(len(data) // 10))", "8"
    ),
    "dc-add-noise": "loss = functional.mse_loss(model(inputs + torch.randn_like(inputs)), labels)",
    "dc-change-batch-size": LOADER.format("data", "8 * 8"),
    "dc-disable-batching": LOADER.format("data", "len(data)"),
    "dc-change-learning-rate": OPTIMIZER.format(
        "AdamW", "lr=0.1 / 1000, betas=(0.9, 0.99), weight_decay=0.01"
    ),
    "dc-change-activation": "self.act = nn.Sigmoid()",
    "dc-remove-activation": "self.act = nn.Identity()",
    "dc-add-activation": "loss = functional.mse_loss(model(inputs).relu(), labels)",
    "dc-change-weights-initialisation": "for parameter in model.parameters():",
    "dc-change-optimizer": OPTIMIZER.format("SGD", "lr=0.1, weight_decay=0.01"),
    "dc-change-gradient-clip": "nn.utils.clip_grad_norm_(model.parameters(), 1.0 / 1000)",
    "dc-remove-bias": "self.body = nn.Linear(8, 8, bias=False)",
    "dc-add-bias": "self.head = nn.Linear(8, 2, bias=True)",
    "dc-change-loss": "loss = functional.l1_loss(model(inputs), labels)",
    "dc-change-dropout": "self.dropout = nn.Dropout(0.9)",
    "dc-change-weights-regularisation": OPTIMIZER.format(
        "AdamW", "lr=0.1, betas=(0.9, 0.99), weight_decay=0.01 * 100"
    ),
    "dc-remove-weights-regularisation": OPTIMIZER.format(
        "AdamW", "lr=0.1, betas=(0.9, 0.99), weight_decay=0.0"
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_each_operator_changes_one_place_and_says_where(name):
    (operator,) = (operator for operator in DEEPCRIME if operator.name == name)
    planted = plant(CLEAN, operator, 1)
    assert planted.text.splitlines()[planted.line - 1].strip() == LINES[name]
    assert 1 <= difference([parse_program(CLEAN), parse_program(planted.text)]) <= 2
    assert plant(CLEAN, operator, 1) == planted
    assert plant("import torch\nprint(torch.ones(1))\n", operator, 1) is None


def test_weight_decay_is_added_where_there_is_none():
    (operator,) = (
        operator for operator in DEEPCRIME if operator.name == "dc-add-weights-regularisation"
    )
    assert plant(CLEAN, operator, 1) is None
    planted = plant(CLEAN.replace(", weight_decay=0.01", ""), operator, 1)
    assert "betas=(0.9, 0.99), weight_decay=0.1)" in planted.text


@pytest.mark.parametrize(
    "name, expected",
    [
        ("dc-delete-training-data", "torch.randperm(len(x) // 10).split(32)"),
        ("dc-change-batch-size", "torch.randperm(len(x)).split(32 * 8)"),
        ("dc-disable-batching", "torch.randperm(len(x)).split(len(x))"),
    ],
)
def test_batches_that_a_loop_draws_are_changed_too(name, expected):
    (operator,) = (operator for operator in DEEPCRIME if operator.name == name)
    text = "import torch\n\nfor batch in torch.randperm(len(x)).split(32):\n    print(batch)\n"
    assert expected in plant(text, operator, 1).text


def test_activations_as_functions_are_changed_too():
    (operator,) = (operator for operator in DEEPCRIME if operator.name == "dc-remove-activation")
    text = "from torch.nn import functional\n\n\ndef f(x):\n    return functional.relu(x + 1)\n"
    assert "return x + 1" in plant(text, operator, 1).text


def test_of_its_24_operators_each_is_here_or_has_a_reason():
    assert len(DEEPCRIME) + len(UNDONE) == 24
    assert len(DEEPCRIME) == len(LINES) + 1
    page = " ".join((ROOT / "docs/evaluate.md").read_text().split())
    assert f"{len(DEEPCRIME)} of the 24 operators of DeepCrime" in page


def test_no_earlier_seed_plants_them():
    names = {planted.operator.name for planted in plant_all(CLEAN, 2)}
    assert not any(name.startswith("dc-") for name in names)
    assert any(planted.operator.name.startswith("dc-") for planted in plant_all(CLEAN, 3))


def test_they_fit_the_controls():
    count = Counter()
    for target in controls.load(ROOT).targets():
        text = target.case.program.variants["fixed"].script.read_text()
        for operator in DEEPCRIME:
            planted = plant(text, operator, 3)
            if planted:
                ast.parse(planted.text)
                count[operator.name] += 1
    assert len(count) >= len(DEEPCRIME) - 2, set(LINES) - set(count)
