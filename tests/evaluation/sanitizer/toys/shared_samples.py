"""Of `shared-samples`: what it accuses, and what it does not."""

NAME = "shared-samples"
PROGRAM = """
from torch.utils.data import DataLoader, Subset, SubsetRandomSampler, TensorDataset, random_split


class Points(torch.utils.data.Dataset):
    def __init__(self, seed=0, scale=1):
        random = torch.Generator().manual_seed(seed)
        self.points, self.scale = torch.randn(64, 4, generator=random), scale
        self.labels = [index % 3 for index in range(64)]

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return self.points[index] * self.scale, self.labels[index]


data = Points()
{split}
train_loader = DataLoader(train, 8, shuffle=True)
valid_loader = DataLoader(valid, 8)
{loaders}
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for x, y in valid_loader:
            model(x)
        {after}
"""
TWICE = "train, valid = random_split({}, [48, 16])[0], random_split({}, [48, 16])[1]"
ONCE = "train, valid = random_split(data, [48, 16])"


def program(split=ONCE, loaders="", after="pass"):
    return PROGRAM.format(split=split, loaders=loaders, after=after)


def of_samplers(first, second):
    loader = "DataLoader(data, 8, sampler=SubsetRandomSampler({}))"
    return f"train_loader, valid_loader = {loader.format(first)}, {loader.format(second)}"


WRONG = {
    "split twice": program(TWICE.format("data", "data")),
    "split for each transform": program(TWICE.format("data", "Points(scale=2)")),
    "tensors": program(
        "data = [TensorDataset(data.points, torch.tensor(data.labels)) for _ in 'ab']; "
        + TWICE.format("data[0]", "data[1]")
    ),
    "indices": program("train, valid = Subset(data, range(50)), Subset(data, range(40, 64))"),
    "samplers": program(loaders=of_samplers("range(50)", "range(48, 64)")),
    "parts of parts": program(
        "train, rest = random_split(data, [48, 16]); valid = Subset(Subset(data, range(64)), range(20))"
    ),
}
APIS = dict.fromkeys(WRONG, "torch.utils.data.random_split")
LINES = {"split twice": "model(x)"}
RIGHT = {
    "split once": program(),
    "the same seed": program(
        "train = random_split(data, [48, 16], torch.Generator().manual_seed(1))[0]; "
        "valid = random_split(Points(scale=2), [48, 16], torch.Generator().manual_seed(1))[1]"
    ),
    "other data": program(TWICE.format("data", "Points(seed=1)")),
    "samplers": program(loaders=of_samplers("range(48)", "range(48, 64)")),
    "a part of it": program("train = Subset(data, range(48)); valid = Subset(data, range(16))"),
    "all": program("train = Subset(data, range(48)); valid = Subset(data, range(64))"),
    "whole datasets": program("train, valid = data, Points()"),
    "folds": program(
        after="parts = [Subset(data, [i for i in range(64) if i % 4 != epoch]), "
        "Subset(data, range(epoch, 64, 4))]; train_loader = DataLoader(parts[0], 8); "
        "valid_loader = DataLoader(parts[1], 8)"
    ),
}
