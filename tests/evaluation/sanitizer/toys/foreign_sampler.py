"""Of `foreign-sampler`: what it accuses, and what it does not."""

NAME = "foreign-sampler"
PROGRAM = """
from torch.utils.data import (
    DataLoader, DistributedSampler, RandomSampler, SequentialSampler, Subset, SubsetRandomSampler,
    TensorDataset, WeightedRandomSampler)

labels = torch.randint(3, (96,))
data = TensorDataset(torch.randn(96, 4), labels)
part = torch.randperm(96)[:64].tolist()
weights = 1 / torch.bincount(labels).float()
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader({data}, 16, sampler={sampler})
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
"""


def program(sampler, data="data"):
    return PROGRAM.format(sampler=sampler, data=data)


WRONG = {
    "a weight for each class": program("WeightedRandomSampler(weights, 96)"),
    "indices": program("RandomSampler(part)"),
    "indices in order": program("SequentialSampler(part)"),
    "a part for each rank": program("DistributedSampler(Subset(data, part), 1, 0, shuffle=False)"),
}
LINES = dict.fromkeys(WRONG, "for x, y in loader")
APIS = {
    "a weight for each class": "torch.utils.data.WeightedRandomSampler",
    "indices": "torch.utils.data.RandomSampler",
}
RIGHT = {
    "a weight for each sample": program("WeightedRandomSampler(weights[labels], 32)"),
    "a curriculum": program("RandomSampler(range(64))"),
    "a subset": program("SubsetRandomSampler(part)"),
    "of the subset": program("RandomSampler(part)", "Subset(data, part)"),
    "a few of all": program("RandomSampler(data, num_samples=32)"),
    "none": program("None"),
}
