"""Toys of `metric-reset`: what it accuses, and what it does not."""

NAME = "metric-reset"

PROGRAM = """
{definitions}

model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
points, labels = torch.randn(48, 4), torch.randint(3, (48,))
metric = {metric}
for epoch in range(4):
    for part in torch.randperm(48).split(16):
        optimizer.zero_grad()
        F.cross_entropy(model(points[part]), labels[part]).backward()
        optimizer.step()
    model.eval()
    metric.reset()
    with torch.no_grad():
        for part in torch.arange(48).split(16):
            metric.update(model(points[part]), labels[part])
    print(metric.compute())
    model.train()
"""

ACCURACY = """
class Accuracy:
    def __init__(self):
        self.reset()

    def reset(self):
        {reset}

    def update(self, scores, labels):
        self.hits = self.hits + (scores.argmax(1) == labels).sum().item()
        self.count = self.count + len(labels)

    def compute(self):
        return {value}
"""
# Counters that begin in the constructor.
KEPT = ACCURACY.replace("self.reset()", "self.hits, self.count = 0, 0")
STATES = """
class Metric(nn.Module):
    def __init__(self):
        super().__init__()
        self.defaults = {}
        self.update = self._count(self.update)

    def _count(self, bare):
        def update(*arguments):
            self.updates = getattr(self, "updates", 0) + 1
            return bare(*arguments)
        return update

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "update"}

    def __setstate__(self, state):
        vars(self).update(state)
        self.update = self._count(self.update)

    def add_state(self, name, value):
        self.defaults[name] = value
        setattr(self, name, value.clone() if isinstance(value, torch.Tensor) else [])

    def reset(self):
        for name, value in self.defaults.items():
            setattr(self, name, value.clone() if isinstance(value, torch.Tensor) else [])
"""
ERROR = """
class Error(Metric):
    def __init__(self):
        super().__init__()
        self.add_state("total", torch.tensor(0.0))
        self.add_state("count", torch.tensor(0))

    def update(self, scores, labels):
        self.total += F.cross_entropy(scores, labels, reduction="sum")
        self.count += len(labels)

    def compute(self):
        return self.total / self.count
"""
WRAPPER = """
class Softened(Metric):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def update(self, scores, labels):
        self.inner.update(scores / 2, labels)

    def compute(self):
        return self.inner.compute()
"""
FORWARDS = """
    def reset(self):
        super().reset()
        self.inner.reset()
"""
LISTED = """
class Error(Metric):
    def __init__(self):
        super().__init__()
        {scores}
        self.add_state("labels", [])

    def update(self, scores, labels):
        self.scores.append(scores)
        self.labels.append(labels)

    def compute(self):
        return F.cross_entropy(torch.cat(self.scores)[-len(torch.cat(self.labels)):], torch.cat(
            self.labels)) + len(torch.cat(self.scores)) * 1e-2
"""


def program(metric, *definitions):
    return PROGRAM.format(metric=metric, definitions="\n".join(definitions))


def accuracy(reset="self.hits, self.count = 0, 0", value="self.hits / self.count", text=ACCURACY):
    return program("Accuracy()", text.format(reset=reset, value=value))


MOVING = """
class Moving:
    def __init__(self):
        self.noise = torch.Generator().manual_seed(1)
        self.reset()

    def reset(self):
        self.values = []

    def update(self, scores, labels):
        chosen = torch.randint(len(labels), (8,), generator=self.noise)
        self.values.append(F.cross_entropy(scores[chosen], labels[chosen]).item())

    def compute(self):
        return sum(self.values) / len(self.values)
"""
TIMED = """
import time

class Speed:
    def __init__(self):
        self.reset()

    def reset(self):
        self.start, self.count = time.perf_counter(), 0

    def update(self, scores, labels):
        self.count += len(labels)

    def compute(self):
        return self.count / (time.perf_counter() - self.start)
"""
LOGGED = """
history = []

class Loss:
    def __init__(self):
        self.reset()

    def reset(self):
        self.values = []

    def update(self, scores, labels):
        self.values.append(F.cross_entropy(scores, labels).item())
        history.append(self.values[-1])

    def compute(self):
        return sum(history) / len(history)
"""
PERCEIVED = """
class Distance:
    def __init__(self):
        self.network, self.values = nn.Linear(3, 3), []

    def reset(self):
        self.values = []

    def update(self, scores, labels):
        self.values.append(self.network(scores).square().mean())

    def compute(self):
        return sum(self.values) / len(self.values)
"""
EXTREMES = """
class Extremes:
    def __init__(self):
        self.lowest, self.highest = float("inf"), float("-inf")
        self.reset()

    def reset(self):
        self.values = []

    def update(self, scores, labels):
        self.values.append(F.cross_entropy(scores, labels).item())
        self.lowest = min(self.lowest, self.values[-1])
        self.highest = max(self.highest, self.values[-1])

    def compute(self):
        return {"now": self.values[-1], "range": (self.lowest, self.highest)}
"""
DRAWN = """
class Drawn(Metric):
    def __init__(self):
        super().__init__()
        self.add_state("values", [])

    def update(self, scores, labels):
        chosen = torch.randint(len(labels), (len(labels),))
        self.values.append(F.cross_entropy(scores[chosen], labels[chosen]))

    def compute(self):
        return torch.stack(self.values).mean()
"""

WRONG = {
    "one counter of two": accuracy("self.hits = 0", text=KEPT),
    "nothing is reset": accuracy("pass", text=KEPT),
    "a local name": accuracy("hits = count = 0", text=KEPT),
    "a wrapper": program("Softened(Error())", STATES, ERROR, WRAPPER),
    "a list that is no state": program("Error()", STATES, LISTED.format(scores="self.scores = []")),
}
ADVISED = {"the range so far": program("Extremes()", EXTREMES)}
RIGHT = {
    "counters": accuracy(),
    "states": program("Error()", STATES, ERROR),
    "a wrapper that hands it on": program("Softened(Error())", STATES, ERROR, WRAPPER + FORWARDS),
    "lists": program("Error()", STATES, LISTED.format(scores="self.add_state('scores', [])")),
    "draws": program("Drawn()", STATES, DRAWN),
    "draws by its own generator": program("Moving()", MOVING),
    "measures time": program("Speed()", TIMED),
    "a list of the program": program("Loss()", LOGGED),
    "holds a network": program("Distance()", PERCEIVED),
    "never reset": accuracy("pass", text=KEPT).replace("    metric.reset()\n", ""),
}
APIS = {"a wrapper": "Softened.reset"}
LINES = dict.fromkeys(WRONG, "metric.reset()")
OUTPUTS = {"lists": ("tensor", 4)}
