"""Toys of `metric-in-collection`: what it accuses, and what it does not."""

NAME = "metric-in-collection"

METRICS = """
class Mean:
    def __init__(self):
        self.reset()

    def reset(self):
        self.total, self.count, self.result = 0.0, 0, None

    def update(self, scores, labels):
        self.result = None
        self.total += F.cross_entropy(scores, labels, reduction="sum").item()
        self.count += len(labels)

    def compute(self):
        if self.result is None:
            self.result = self.total / max(self.count, 1)
        return self.result


class Accuracy(Mean):
    def update(self, scores, labels):
        self.result = None
        self.total += (scores.argmax(1) == labels).sum().item()
        self.count += len(labels)


class Largest:
    def __init__(self):
        self.reset()

    def reset(self):
        self.value = None

    def update(self, scores, labels):
        value = F.cross_entropy(scores, labels).item()
        self.value = value if self.value is None else self.choose(self.value, value)

    choose = staticmethod(max)

    def compute(self):
        return self.value


class Smallest(Largest):
    choose = staticmethod(min)
"""
COLLECTION = """
class Collection{base}:
    def __init__(self, **metrics):
        {begin}

    def reset(self):
        for metric in self.metrics.values():
            metric.reset()

    def update(self, scores, labels{more}):
        {update}

    def compute(self):
        {compute}

"""
PROGRAM = """
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
points, labels = torch.randn(48, 4), torch.randint(3, (48,))
metrics = Collection({metrics})
for epoch in range(3):
    for part in torch.randperm(48).split(16):
        optimizer.zero_grad()
        F.cross_entropy(model(points[part]), labels[part]).backward()
        optimizer.step()
    metrics.reset()
    with torch.no_grad():
        for part in torch.arange(48).split(16):
            metrics.update(model(points[part]), labels[part]{more_given})
    print(metrics.compute())
"""
BEGIN = "self.metrics = metrics"
ALL = "for metric in self.metrics.values(): metric.update(scores, labels)"
COMPUTE = "return {name: metric.compute() for name, metric in self.metrics.items()}"
MEANS = "loss=Mean(), accuracy=Accuracy()"
EXTREMES = "largest=Largest(), smallest=Smallest()"
# Members whose states are the same after the first update share them.
GROUPS = (
    "if self.groups is None:",
    "    for metric in self.metrics.values(): metric.update(scores, labels)",
    "    self.groups = {}",
    "    for name, metric in self.metrics.items():",
    "        self.groups.setdefault({key}, []).append(name)",
    "else:",
    "    for names in self.groups.values(): self.metrics[names[0]].update(scores, labels)",
    "for names in self.groups.values():",
    "    for name in names[1:]: vars(self.metrics[name]).update({shared})",
)


def program(update=ALL, metrics=MEANS, compute=COMPUTE, begin=BEGIN, **texts):
    lines = {"update": update, "compute": compute, "begin": begin}
    lines = {
        name: text if isinstance(text, str) else "\n        ".join(text)
        for name, text in lines.items()
    }
    collection = COLLECTION.format(base=texts.get("base", ""), more=texts.get("more", ""), **lines)
    return (
        METRICS
        + collection
        + PROGRAM.format(metrics=metrics, more_given=texts.get("more_given", ""))
    )


def grouped(key, shared):
    return [
        line.format(key=key, shared=shared) if "{key}" in line or "{shared}" in line else line
        for line in GROUPS
    ]


STATE = "vars(self.metrics[names[0]])"
WITH_GROUPS = ["self.metrics, self.groups = metrics, None"]
WRONG = {
    "groups by equal states": program(
        grouped("str(vars(metric))", STATE), EXTREMES, begin=WITH_GROUPS
    ),
    "a stored result": program(
        grouped("'loss'", "{'total': " + STATE + "['total'], 'count': " + STATE + "['count']}"),
        "loss=Mean(), again=Mean()",
        begin=WITH_GROUPS,
    ),
    "the first ones are left out": program(
        "for metric in list(self.metrics.values())[self.skip:]: metric.update(scores, labels)\n"
        "        self.skip = 1",
        begin=["self.metrics, self.skip = metrics, 0"],
    ),
    "a prefix, and names that are mixed up": program(
        compute="return {'test_' + name: metric.compute() for name, metric in "
        "zip(self.metrics, reversed(self.metrics.values()))}"
    ),
}
RIGHT = {
    "all": program(),
    "extremes": program(metrics=EXTREMES),
    "a prefix": program(
        compute="return {'test_' + name: metric.compute() for name, metric in self.metrics.items()}"
    ),
    "groups by class": program(
        grouped("type(metric)", STATE), "loss=Mean(), again=Mean()", begin=WITH_GROUPS
    ),
    "arguments of their own": program(
        [
            "self.metrics['loss'].update(scores / 2, labels)",
            "self.metrics['accuracy'].update(-scores, labels)",
        ],
    ),
    "an option that no member takes": program(more=", weight=1.0", more_given=", weight=2.0"),
    "a module": program(base="(nn.Module)", begin=["super().__init__()", "self.metrics = metrics"]),
    "percent": program(compute="return {'percent': 100 * self.metrics['accuracy'].compute()}"),
    "one member": program(metrics="loss=Mean()"),
    "a sum": program(compute="return {'total': sum(m.compute() for m in self.metrics.values())}"),
    "a member that is drawn": program(
        "for metric in self.metrics.values(): metric.update(scores[torch.randperm(16)], labels)"
    ),
}
APIS = dict.fromkeys(WRONG, "Collection.update")
LINES = dict.fromkeys(WRONG, "metrics.update(")
