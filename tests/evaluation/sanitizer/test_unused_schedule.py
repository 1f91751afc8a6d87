"""Of `unused-schedule`: what it accuses, and what it does not."""

import pytest
from support import toys

NAME = "unused-schedule"
PROGRAM = """
from torch.optim import lr_scheduler as schedules
from torch.utils.data import DataLoader, TensorDataset

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{scheduler}
loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randint(2, (64,))), 16)
for epoch in range({epochs}):
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    {step}
"""
COSINE = "scheduler = schedules.CosineAnnealingLR(optimizer, 5)"
BOTH = (
    "parts = [schedules.LinearLR(optimizer), schedules.ExponentialLR(optimizer, 0.9)]; "
    "scheduler = schedules.ChainedScheduler(parts)"
)


def program(scheduler=COSINE, step="", epochs=5):
    return PROGRAM.format(scheduler=scheduler, step=step, epochs=epochs)


WRONG = {"never stepped": program()}
RIGHT = {
    "stepped": program(step="scheduler.step()"),
    "parts": program(BOTH, "scheduler.step()"),
    "one epoch": program(epochs=1),
    "constant": program("scheduler = schedules.LambdaLR(optimizer, lambda step: 1.0)"),
}


@pytest.fixture(scope="module")
def said(torch_python, tmp_path_factory):
    return toys.run(torch_python, tmp_path_factory.mktemp("toys"), WRONG | RIGHT)


@pytest.mark.real
@pytest.mark.parametrize("name", WRONG)
def test_accused(said, name):
    assert list(said[name].errors) == [NAME]


@pytest.mark.real
@pytest.mark.parametrize("name", RIGHT)
def test_not_accused(said, name):
    assert said[name].errors == {}
