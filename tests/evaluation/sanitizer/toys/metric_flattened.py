"""Toys of `metric-flattened`: what it accuses, and what it does not."""

NAME = "metric-flattened"

PROGRAM = """
class Metric:
    def __init__(self):
        self.reset()

    def reset(self):
        self.total, self.count = 0.0, 0

    def update(self, scores, labels{more}):
        {update}

    def compute(self):
        return self.total / max(self.count, 1)


network = nn.GRU(6, 12, batch_first=True)
head = nn.Linear(12, {classes})
optimizer = torch.optim.Adam([*network.parameters(), *head.parameters()], lr=0.01)
points, labels = torch.randn(24, 7, 6), torch.randint({classes}, (24, 7))
{labels}
metric = Metric()
for epoch in range(3):
    for part in torch.randperm(24).split(8):
        optimizer.zero_grad()
        scores = head(network(points[part])[0])
        F.cross_entropy(scores.transpose(1, 2), labels[part], ignore_index=-100).backward()
        optimizer.step()
    metric.reset()
    with torch.no_grad():
        for part in torch.arange(24).split(8):
            scores = head(network(points[part])[0]){layout}
            metric.update(scores, labels[part]{more_given})
    print(metric.compute())
"""
FIRST, LAST = ".transpose(1, 2)", ""


def program(*lines, layout=FIRST, classes=4, more="", more_given="", labels=""):
    return PROGRAM.format(
        update="\n        ".join(lines), layout=layout, classes=classes, more=more,
        more_given=more_given, labels=labels,
    )  # fmt: skip


def counted(hits, *before, **options):
    lines = (*before, f"hits = {hits}", "self.total += hits.float().sum().item()")
    return program(*lines, "self.count += hits.numel()", **options)


WRONG = {
    "a view in the place of a transposition": counted(
        "scores.reshape(-1, scores.shape[1]).argmax(1) == labels.flatten()"
    ),
    "the highest ones by another axis": counted(
        "(scores >= scores.amax(-1, keepdim=True)).gather(1, labels.unsqueeze(1)).squeeze(1)"
    ),
    "places are taken for classes": counted(
        "scores.argmax(1 if scores.dim() == 2 else 2)[:, :1].expand_as(labels) == labels"
        " if scores.dim() == 3 else scores.argmax(1) == labels"
    ),
    "samples are taken for places": counted(
        "scores.transpose(1, -1).flatten(0, -2).argmax(-1) == labels.t().flatten()"
        " if labels.dim() > 1 else scores.argmax(1) == labels"
    ),
}
RIGHT = {
    "classes first": counted("scores.argmax(1) == labels"),
    "classes last": counted("scores.argmax(-1) == labels", layout=LAST),
    "a transposition": counted(
        "scores.movedim(1, -1).reshape(-1, scores.shape[1]).argmax(1) == labels.flatten()"
    ),
    "padding": counted(
        "scores.argmax(1)[labels >= 0] == labels[labels >= 0]", labels="labels[:, 4:] = -100"
    ),
    "whole sequences": counted("(scores.argmax(1) == labels).reshape(len(labels), -1).all(1)"),
    "errors in the first three": counted(
        "scores.topk(3, 1).indices.ne(labels.unsqueeze(1)).all(1)"
    ),
    "shifted": counted("scores[:, :-1].argmax(-1) == labels[:, 1:]", layout=LAST),
    "as many classes as places": counted("scores.argmax(-1) == labels", layout=LAST, classes=7),
    "a mask": counted(
        "(scores.argmax(1) == labels)[mask]", more=", mask", more_given=", labels[part] > 1"
    ),
    "a loss": program(
        "self.total += F.cross_entropy(scores, labels, reduction='sum').item()",
        "self.count += labels.numel()",
    ),
    "the first place on purpose": counted("scores.argmax(1)[:, 0] == labels[:, 0]"),
}
APIS = dict.fromkeys(WRONG, "Metric.update")
LINES = dict.fromkeys(WRONG, "metric.update(")
