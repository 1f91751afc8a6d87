"""Of `sorted-classes`: what it accuses, in which iteration, and what it does not."""

NAME = "sorted-classes"
PROGRAM = """
from torch.utils.data import DataLoader, TensorDataset

labels = torch.arange({classes}).repeat_interleave({each})
points = torch.randn(len(labels), 4) + labels[:, None]
loader = DataLoader(TensorDataset(points, labels), {options})
model = nn.Linear(4, {classes})
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        {loss}
        loss.backward()
        optimizer.step()
"""
LOSS = "loss = F.cross_entropy(model(x), y)"


def program(options="16", loss=LOSS, classes=4, each=40):
    return PROGRAM.format(options=options, loss=loss, classes=classes, each=each)


WRONG = {
    "not shuffled": program(),
    "one class a batch": program("8"),
    "many classes": program(classes=60, each=4),
    "in the other order of axes": program(loss="loss = F.nll_loss(model(x).log_softmax(1), y)"),
}
ITERATIONS = dict.fromkeys(WRONG, 6) | {"one class a batch": 11}
APIS = dict.fromkeys(WRONG, "torch.utils.data.DataLoader")
LINES = {"not shuffled": "F.cross_entropy("}
RIGHT = {
    "shuffled": program("16, shuffle=True"),
    "drawn": program("16, sampler=torch.utils.data.RandomSampler(range(160), True, 160)"),
    "two classes": program(classes=2, each=80),
    "few batches": program("40"),
    "one domain after the other": program(
        "16, shuffle=True",
        "loss = sum(F.cross_entropy(model(x), torch.full_like(y, part)) for part in range(4))",
    ),
    "evaluated": program(
        "16",
        "z = torch.randn(16, 4); _ = F.cross_entropy(model(x).detach(), y); "
        "loss = F.cross_entropy(model(z), torch.arange(16) % 4)",
    ),
    "pairs of classes": program(loss="loss = F.cross_entropy(model(x), y // 2 * 2 + torch.arange(len(y)) % 2)"),
}  # fmt: skip
