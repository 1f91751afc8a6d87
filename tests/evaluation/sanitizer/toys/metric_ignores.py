"""Toys of `metric-ignores`: what it accuses, and what it does not."""

NAME = "metric-ignores"

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


def take_one(values):
    return values[..., 0]


network = nn.GRU(6, 12, batch_first=True)
head = nn.Linear(12, 4)
optimizer = torch.optim.Adam([*network.parameters(), *head.parameters()], lr=0.01)
points, labels = torch.randn(24, 7, 6), torch.randint(4, (24, 7))
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
            scores = head(network(points[part])[0]).transpose(1, 2)
            metric.update(scores, labels[part]{more_given})
    print(metric.compute())
"""


def program(*lines, more="", more_given="", labels=""):
    return PROGRAM.format(
        update="\n        ".join(lines), more=more, more_given=more_given, labels=labels
    )


def counted(hits, *before, **options):
    lines = (*before, f"hits = {hits}", "self.total += hits.float().sum().item()")
    return program(*lines, "self.count += hits.numel()", **options)


WRONG = {
    "a table that keeps the first": program(
        "places = {}",
        "for score in scores.movedim(-1, 0):",
        "    places.setdefault('scores', score)",
        "for score, label in zip(places.values(), labels.T):",
        "    self.total += (score.argmax(1) == label).sum().item()",
        "self.count += labels.numel()",
    ),
    "a loop that returns": program(
        "for place, label in enumerate(labels.T):",
        "    hits = scores[..., place].argmax(1) == label",
        "    self.total += hits.float().sum().item()",
        "    self.count += labels.numel()",
        "    return",
    ),
    "an iterator that is read once": program(
        "pairs = zip(scores.movedim(-1, 0), labels.T)",
        "hits = [(score.argmax(1) == label).sum() for score, label in [next(pairs)]]",
        "self.total += float(sum(hits))",
        "self.count += labels.numel()",
    ),
    "a sample for all": program(
        "for score, label in zip(scores, labels):",
        "    hits = score.argmax(0) == label",
        "    break",
        "self.total += hits.sum().item()",
        "self.count += labels.numel()",
    ),
}
RIGHT = {
    "all": counted("scores.argmax(1) == labels"),
    "a loop": program(
        "for place, label in enumerate(labels.T):",
        "    hits = scores[..., place].argmax(1) == label",
        "    self.total += hits.float().sum().item()",
        "    self.count += len(label)",
    ),
    "the first place on purpose": counted("scores[..., 0].argmax(1) == labels[:, 0]"),
    "the first place by a function": counted("scores.select(-1, 0).argmax(1) == take_one(labels)"),
    "labels of the first place alone": counted(
        "scores.argmax(1)[labels >= 0] == labels[labels >= 0]", labels="labels[:, 1:] = -100"
    ),
    "a mask": counted(
        "(scores.argmax(1) == labels)[mask]",
        more=", mask",
        more_given=", torch.arange(7).expand(8, 7) < 1",
    ),
    "the last place": counted("scores[..., -1].argmax(1) == labels[:, -1]"),
    "only labels": counted("labels == 1"),
    "how sure it is": counted("scores.softmax(1).amax(1)"),
    "whole sequences": counted("(scores.argmax(1) == labels).all(-1)"),
}
APIS = dict.fromkeys(WRONG, "Metric.update")
LINES = dict.fromkeys(WRONG, "metric.update(")
