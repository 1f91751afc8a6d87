"""Toys of `order-of-samples`: what it accuses, in which iteration, and what it does not."""

NAME = "order-of-samples"

PROGRAM = """
from torch.utils.data import DataLoader, TensorDataset

class Loss(nn.Module):
    def forward(self, out, target):
        p, right = out.softmax(1), F.one_hot(target, 3).movedim(-1, 1).float()
        return {loss}

model, criterion = nn.Conv2d(2, 3, 3, padding=1), Loss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
data = TensorDataset(torch.randn(32, 2, 5, 5), torch.randint(3, (32, 5, 5)))
for epoch in range(2):
    for x, y in DataLoader(data, batch_size=8, shuffle={shuffle}):
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        optimizer.step()
"""


def program(loss, shuffle=True):
    return PROGRAM.format(loss=loss, shuffle=shuffle)


WRONG = {
    "batch in place of classes": program(
        "(torch.reshape(p.movedim(0, -1), (-1, 3)) - right.flatten(2).movedim(1, -1).reshape(-1, "
        "3)).square().mean()"
    ),
    "one sample behind": program("(p[1:] - right[:-1]).square().mean()"),
}
COUNTED = """
RNG, TOTAL, SEEN = torch.Generator().manual_seed(1), 0, []

class Counted(Loss):
    calls = 0

    def forward(self, out, target):
        self.count()
        return super().forward(out, target)

    def count(self):
        {count}

model, criterion = nn.Conv2d(2, 3, 3, padding=1), Counted()"""


def counted(count, counter):
    """A program that is wrong, but not tried; it counts its calls,
    and looks in the end whether they are 8.
    """
    head = "\nmodel, criterion = nn.Conv2d(2, 3, 3, padding=1), Loss()"
    return (
        WRONG["one sample behind"].replace(head, COUNTED.format(count=count))
        + f"assert {counter}\n"
    )


SAME = (
    "[torch.rand((), generator=RNG) for _ in range(9)][0] == torch.rand(9, "
    "generator=RNG.manual_seed(1))[8]"
)
KEPT = {
    "counted by the class": counted("Counted.calls += 1", "Counted.calls == 8"),
    "counted by a global": counted("global TOTAL; TOTAL += 1", "TOTAL == 8"),
    "counted by a list": counted("SEEN.append(1)", "len(SEEN) == 8"),
    "a generator of its own": counted("torch.rand((), generator=RNG)", SAME),
}
RIGHT = {
    "plain": program("F.cross_entropy(out, target)"),
    "dice of the batch": program("1 - 2 * (p * right).sum() / (p.sum() + right.sum())"),
    "all with all": program("torch.cdist(p.flatten(1), right.flatten(1)).mean()"),
    "by chance": program("(p * torch.rand(len(p), 1, 1, 1) - right).square().mean()"),
    "sorted": program("((p - right).abs().flatten().sort()[0] * torch.arange(600)).mean()"),
    "smooth in time, in order": program(
        "(p - right).square().mean() + (p[1:] - p[:-1]).square().mean()", False
    ),
}

RIGHT |= KEPT
