"""Of `idle-ignore-index`: what it accuses, and what it does not."""

NAME = "idle-ignore-index"
PROGRAM = """
class Model(nn.Module):
    def __init__(self, ignore_index=0):
        super().__init__()
        self.ignore_index, self.layer = ignore_index, nn.Linear(4, 6)

    def forward(self, x, y):
        scores = self.layer(x)
        return {loss}


model = Model({index})
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for iteration in range(6):
    optimizer.zero_grad()
    model(torch.randn(16, 4), {labels}).backward()
    optimizer.step()
"""
LABELS = "torch.randint(6, (16,)) * (torch.arange(16) % 3)"


def program(loss, index="0", labels=LABELS):
    labels = labels.replace("torch.randint(6, (16,)) *", "torch.randint(3, (16,)) *")
    return PROGRAM.format(loss=loss, index=index, labels=labels)


WRONG = {
    "the default": program("F.cross_entropy(scores, y)"),
    "log-probabilities": program("F.nll_loss(scores.log_softmax(1), y)"),
    "a module": program("nn.CrossEntropyLoss()(scores, y)"),
    "another one": program("F.cross_entropy(scores, y, ignore_index=1)"),
}
APIS = dict.fromkeys(WRONG, "torch.nn.functional.cross_entropy")
APIS["log-probabilities"] = "torch.nn.functional.nll_loss"
# A module of torch has an index of its own, and it is that one which counts.
del WRONG["a module"], APIS["a module"]
RIGHT = {
    "handed on": program("F.cross_entropy(scores, y, ignore_index=self.ignore_index)"),
    "none there": program("F.cross_entropy(scores, y)", labels="torch.randint(1, 6, (16,))"),
    "single ones": program("F.cross_entropy(scores, y, reduction='none')[y != 0].mean()"),
    "the default kept": program("F.cross_entropy(scores, y)", index="-100"),
    "another loss": program(
        "F.cross_entropy(scores[:8], y[:8]) + F.cross_entropy(scores, y, ignore_index=0)"
    ),
    "weights": program("F.cross_entropy(scores, y, weight=(torch.arange(6) > 0).float())"),
    "a module": program("nn.CrossEntropyLoss(ignore_index=0)(scores, y)"),
}
