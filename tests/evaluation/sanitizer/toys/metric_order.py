"""Of `metric-order`: what it accuses, and what it does not."""

NAME = "metric-order"
PROGRAM = """
class Metric:
    def __init__(self):
        self.reset()

    def reset(self):
        self.values = []

    def update(self, preds, {target}):
        {update}

    def compute(self):
        {compute}


model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
metric = Metric()
for epoch in range(3):
    x, y = torch.randn(16, 4), torch.randint(3, (16,))
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    metric.reset()
    with torch.no_grad():
        scores = model(x)
        metric.update({arguments})
    metric.compute()
"""
MEAN = "return torch.stack(self.values).mean()"


def program(update, compute=MEAN, target="target", arguments="scores, y"):
    return PROGRAM.format(update=update, compute=compute, target=target, arguments=arguments)


HITS = "self.values += list((preds.argmax(1) == target).float())"
TEXTS = "[str(int(value)) * int(value + 1) for value in scores.argmax(1)], [str(int(v)) * int(v + 1) for v in y]"
SORTED = (
    "preds, target = sorted(preds, key=len), target; "
    "self.values += [torch.tensor(float(a == b)) for a, b in zip(preds, target)]"
)
WRONG = {
    "predictions are sorted": program(SORTED, arguments=TEXTS),
    "sorted by a score": program(
        "self.values += list((preds[preds.amax(1).argsort()].argmax(1) == target).float())"
    ),
    "put back to a wrong place": program(
        "order = preds.amax(1).argsort(); "
        "self.values += list((preds.argmax(1) == target)[order][order].float() * torch.arange(16))",
        "return torch.stack(self.values)",
    ),
    "by name": program(SORTED, arguments="preds=" + TEXTS.replace("], [", "], target=[")),
}
APIS = dict.fromkeys(WRONG, "Metric.update")
RIGHT = {
    "hits": program(HITS),
    "one number for each": program(HITS, "return torch.stack(self.values)"),
    "texts": program(SORTED.replace("sorted(preds, key=len)", "list(preds)"), arguments=TEXTS),
    "both are sorted": program(
        "pairs = sorted(zip(preds, target), key=lambda pair: len(pair[0])); "
        "self.values += [torch.tensor(float(a == b)) for a, b in pairs]",
        arguments=TEXTS,
    ),
    "put back": program(
        "order = preds.amax(1).argsort(); "
        "self.values += list((preds.argmax(1) == target)[order][order.argsort()].float())",
        "return torch.stack(self.values)",
    ),
    "the last one": program(
        "self.values = [preds[-1, 0]]", "return self.values[0]", arguments="scores[:, :1], y"
    ),
    "one tensor": program(
        "self.values += list(preds.amax(1) * torch.arange(16))", target="target=None", arguments="scores"
    ),
    "draws": program("self.values += list((preds.argmax(1) == target) * torch.rand(16))"),
    "equal scores": program(
        "self.values += list(target[preds.argsort(stable=True)].float() / torch.arange(1, 17))",
        arguments="scores[:, 0].round(), y",
    ),
}  # fmt: skip
