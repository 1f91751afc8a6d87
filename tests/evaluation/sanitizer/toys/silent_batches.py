"""Toys of `silent-batches`: what it accuses, and what it does not."""

NAME = "silent-batches"
PROGRAM = """
from torch.utils.data import DataLoader, TensorDataset

labels = torch.arange(480) % 4
points = torch.randn(480, 6) + F.one_hot(labels, 6)
groups = [torch.nonzero(labels == label).flatten() for label in range(4)]


class Grouped(torch.utils.data.Sampler):
    def __init__(self, shares):
        self.shares = shares

    def __iter__(self):
        for step in range(40):
            if self.shares and step % self.shares:
                group = groups[torch.randint(4, ()).item()]
                yield group[torch.randperm(len(group))[:16]].tolist()
            else:
                yield torch.randperm(480)[:16].tolist()

    def __len__(self):
        return 40


def find_triplets(out, y, margin=1.0):
    distances = (out[:, None] - out[None]).pow(2).sum(2)
    same = (y[:, None] == y[None]).float()
    gaps = (distances[:, :, None] - distances[:, None, :] + margin).relu()
    mask = same[:, :, None] * (1 - same[:, None, :])
    return gaps * mask, mask


def triplets(out, y, margin=1.0):
    gaps, mask = find_triplets(out, y, margin)
    return gaps.sum() / mask.sum().clamp(min=1)


class Criterion(nn.Module):
    def forward(self, out, y):
        return triplets(out, y)


criterion = Criterion()
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 4))
optimizer = torch.optim.{optimizer}(model.parameters(), lr=0.01)
loader = DataLoader(TensorDataset(points, labels), batch_sampler=Grouped({shares}))
{before}
for step, (x, y) in enumerate({batches}):
    out = model(x)
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
SUPERVISED = (
    "(((y[:, None] != y) * (2 - torch.cdist(out, out)).relu()).sum()"
    " / (y[:, None] != y).sum().clamp(min=1))"
)


def program(shares, loss="triplets(out, y)", before="pass", batches="loader", optimizer="SGD"):
    return PROGRAM.format(
        shares=shares, loss=loss, before=before, batches=batches, optimizer=optimizer
    )


AHEAD = """
def look_ahead(loader):
    batches = iter(loader)
    current = next(batches)
    for following in batches:
        yield current
        current = following
"""
OWN = "[(points[part], labels[part]) for part in map(torch.tensor, Grouped({}))]"
WRONG = {
    "groups of a label": program(12),
    "half of them": program(2, optimizer="Adam"),
    "pairs of two labels": program(3, SUPERVISED),
    "a module, without a loader": program(5, "criterion(out, y)", batches=OWN.format(5)),
    "a loader that is a batch ahead": program(
        12, "criterion(out, y)", batches="look_ahead(loader)", before=AHEAD
    ),
    "a ranking": program(
        4,
        "((0.3 - out[y == y.max(), 0][:, None] + out[y < y.max(), 0]).relu().sum()) * 0.1",
    ),
    "one batch of many": program(35),
}
RIGHT = {
    "batches at random": program(0),
    "a cross-entropy": program(3, "F.cross_entropy(out, y)"),
    "a satisfied margin": program(0, "triplets(10 * out, y, margin=-9.0)"),
    "few of them": program(
        0, batches="[(x, y if step % 6 else y * 0) for step, (x, y) in enumerate(loader)]"
    ),
    "another term": program(3, "triplets(out, y) + out.pow(2).mean()"),
    "rewards of nothing": program(
        0, "-(out.log_softmax(1)[:, 0] * (0.0 if step % 3 else 1.0)).mean()"
    ),
    "a warm-up": program(0, "triplets(out, y) * (0.0 if step < 12 else 1.0)"),
    "rewards of one class": program(
        3, "-(out.log_softmax(1)[:, 0] * (0.0 if step % 2 else 1.0)).mean()"
    ),
    "small batches": program(
        0, batches="[(x[:1], y[:1]) for x, y in loader]", loss="(y - out[:, 0]).relu().mean()"
    ),
    "nothing to learn": program(0, "out.mean() * 0"),
    "all of one label": program(
        0, batches="[(x, y * 0) for x, y in loader]", loss="(out.mean() - step % 2).relu()"
    ),
}
APIS = dict.fromkeys(WRONG, "torch.utils.data.Sampler")
LINES = dict.fromkeys(WRONG, "optimizer.step()")
