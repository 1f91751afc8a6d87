"""Of `stale-workers`: what it accuses, and what it does not."""

import pytest
from support import toys

NAME = "stale-workers"
PROGRAM = """
from torch.utils.data import DataLoader, Dataset

class Data(Dataset):
    def __init__(self):
        self.epoch, self.log = 0, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return 8

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(100 * self.epoch + index)
        return torch.randn(4, generator=generator)

model, data = nn.Linear(4, 1), Data()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(data, 4, num_workers={workers}, persistent_workers={persistent})
for epoch in range(3):
    {change}
    for x in loader:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
"""


def program(change="data.set_epoch(epoch)", workers=1, persistent=True):
    return PROGRAM.format(change=change, workers=workers, persistent=persistent)


WRONG = {"epoch": program()}
RIGHT = {
    "not persistent": program(persistent=False),
    "no workers": program(workers=0, persistent=False),
    "not used": program("data.log += 1"),
    "as before": program("data.set_epoch(0)"),
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
