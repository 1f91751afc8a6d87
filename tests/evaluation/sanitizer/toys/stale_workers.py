"""Of `stale-workers`: what it accuses, and what it does not."""

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

{more}
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

# A number that a comprehension, a property or a method uses on the way to a sample.
DEEPER = """
class Data(Data):
    def __getitem__(self, index):
        return {sample}

    def shifted(self, index):
        return index + self.epoch

    @property
    def shift(self):
        return float(self.epoch)
"""
# One that only the main process reads.
UNREAD = """
class Data(Data):
    def describe(self):
        return self.log
"""
LIST = "Data = lambda: [torch.randn(4) for _ in range(8)]"
WRAPPED = """
class Outer(Dataset):
    def __init__(self):
        self.dataset = Inner()

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.dataset.sample(index)

class Inner(Data):
    def sample(self, index):
        return torch.full((4,), float(self.epoch))

Data = Outer
"""


def program(change="data.set_epoch(epoch)", workers=1, persistent=True, more=""):
    return PROGRAM.format(change=change, workers=workers, persistent=persistent, more=more)


def deeper(sample):
    return program(more=DEEPER.format(sample=sample))


WRONG = {
    "epoch": program(),
    "in a comprehension": deeper("torch.tensor([float(self.epoch * each) for each in range(4)])"),
    "by a method": deeper("torch.full((4,), float(self.shifted(index)))"),
    "by a property": deeper("torch.full((4,), self.shift)"),
    "in what is wrapped": program("data.dataset.set_epoch(epoch)", more=WRAPPED),
}
RIGHT = {
    "not persistent": program(persistent=False),
    "no workers": program(workers=0, persistent=False),
    "not used": program("data.log += 1"),
    "not read by workers": program("data.log += 1; data.describe()", more=UNREAD),
    "a list": program("pass", more=LIST),
    "as before": program("data.set_epoch(0)"),
}
