"""Tables of the program's objects go by identity: no `==` and no hash of the program's is asked."""

import gc
import runpy

import pytest
from support import toys
from support.paths import ROOT

TOOLS = ROOT / "detectors" / "sanitizer" / "sanitizer_invariants" / "tools"
DEFINITIONS = runpy.run_path(str(TOOLS / "identity.py"))
IdentityTable, IdentitySet = DEFINITIONS["IdentityTable"], DEFINITIONS["IdentitySet"]


class Odd:
    """An object that can be neither hashed nor compared."""

    def __hash__(self):
        raise RuntimeError

    def __eq__(self, other):
        raise RuntimeError


class Slotted:
    """An object that no weak reference can be to."""

    __slots__ = ()


def test_values_are_found_by_identity():
    first, second, table = Odd(), Odd(), IdentityTable()
    table[first], table[second] = 1, 2
    table[first] += 10
    assert table[first] == 11
    assert table.get(second) == 2
    assert table.pop(second) == 2
    assert second not in table
    assert [key is first for key, _ in table.items()] == [True]
    with pytest.raises(KeyError):
        table[second]


def test_what_is_gone_is_left_out():
    table, members = IdentityTable(), IdentitySet()
    for number in range(3):
        value = Odd()
        table[value] = number
        members.add(value)
    gc.collect()
    assert list(table.values()) == [2]
    assert len(table) == len(members) == 1


def test_what_has_no_weak_reference_is_left_out():
    table, members, value = IdentityTable(), IdentitySet(), Slotted()
    table[value] = 1
    members.add(value)
    assert value not in table
    assert value not in members
    assert table.setdefault(value, 3) == 3


def test_sets_have_nothing_in_common_by_identity():
    first, second = Odd(), Odd()
    members = IdentitySet([first, first])
    assert len(members) == 1
    assert members.isdisjoint(IdentitySet([second]))
    assert not members.isdisjoint(IdentitySet([second, first]))
    members.discard(second)
    members.discard(first)
    assert not members


PROGRAM = """
from torch.utils.data import DataLoader, Dataset, Sampler


class Odd:
    def __hash__(self):
        raise RuntimeError("no hash")

    def __eq__(self, other):
        raise RuntimeError("no equality")


class Data(Odd, Dataset):
    def __init__(self):
        self.x, self.y = torch.randn(32, 4), torch.randint(3, (32,))

    def __len__(self):
        return 32

    def __getitem__(self, index):
        return self.x[index], self.y[index]


class Order(Odd, Sampler):
    def __init__(self):
        pass

    def __len__(self):
        return 32

    def __iter__(self):
        return iter(torch.randperm(32).tolist())


class Batches(Order):
    def __len__(self):
        return 4

    def __iter__(self):
        return iter(torch.randperm(32).view(4, 8).tolist())


class Loader(Odd, DataLoader):
    pass


data = Data()
loaders = [
    Loader(data, batch_size=8, shuffle=True),
    Loader(data, batch_size=8, sampler=Order()),
    Loader(data, batch_sampler=Batches()),
]
other = Loader(Data(), batch_size=8)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 4)
total = 0.0
for epoch in range(6):
    model.train()
    for x, y in loaders[epoch % 3]:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    schedule.step()
    model.eval()
    with torch.no_grad():
        for x, y in other:
            total += F.cross_entropy(model(x), y).item()
print("over")
"""


@pytest.mark.real
def test_data_and_samplers_that_cannot_be_hashed(torch_python, tmp_path):
    verdict = toys.run(torch_python, tmp_path, {"right": PROGRAM})["right"]
    assert not verdict.alarms
    assert "over" in verdict.output
