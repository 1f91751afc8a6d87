"""Toys of `metric-types`: what it accuses, and what it does not."""

NAME = "metric-types"

PROGRAM = """
class Metric:
    def __init__(self):
        self.reset()

    def reset(self):
        self.total, self.count = 0.0, 0

    def update(self, images, targets):
        {update}

    def compute(self):
        return self.total / self.count


model = nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
targets = torch.rand(48, 8)
noisy = targets + 0.1 * torch.randn(48, 8)
metric = Metric()


def store(images):
    return {stored}


for epoch in range(3):
    for part in torch.randperm(48).split(16):
        optimizer.zero_grad()
        F.mse_loss(model(noisy[part]), targets[part]).backward()
        optimizer.step()
    metric.reset()
    with torch.no_grad():
        for part in torch.arange(48).split(16):
            metric.update(store(model(noisy[part])), store(targets[part]))
    print(metric.compute())
"""
BYTES = "(images * 255).round().clamp(0, 255).to(torch.uint8)"
SHORT = "(images * 20000).round().clamp(-32768, 32767).to(torch.int16)"
SMALL = "(images * 100).round().clamp(-128, 127).to(torch.int8)"
CLASSES = "(images * 40).round().clamp(0, 39).to(torch.uint8)"


def program(*lines, stored=BYTES):
    lines = (*lines, "self.count += images.numel()")
    return PROGRAM.format(update="\n        ".join(lines), stored=stored)


WRONG = {
    "squares of bytes": program(
        "distance = images - targets", "self.total += (distance * distance).sum().item()"
    ),
    "differences of bytes": program("self.total += (images - targets).float().abs().sum().item()"),
    "products of short integers": program(
        "self.total += (images * targets).double().sum().item()", stored=SHORT
    ),
    "squares of small integers": program(
        "self.total += (images - targets).pow(2).double().sum().item()", stored=SMALL
    ),
    "pairs of classes": program(
        "pairs = targets * 40 + images",
        "counts = torch.bincount(pairs.long().flatten(), minlength=1600)[:1600]",
        "self.total += counts.reshape(40, 40).diagonal().sum().item()",
        stored=CLASSES,
    ),
}
RIGHT = {
    "widened first": program(
        "distance = images.int() - targets.int()",
        "self.total += (distance * distance).sum().item()",
    ),
    "floats": program("self.total += (images.float() - targets.float()).square().sum().item()"),
    "classes": program("self.total += (images == targets).sum().item()", stored=CLASSES),
    "classes that are counted": program(
        "pairs = targets.long() * 40 + images.long()",
        "counts = torch.bincount(pairs.flatten(), minlength=1600)",
        "self.total += counts.reshape(40, 40).diagonal().sum().item()",
        stored=CLASSES,
    ),
    "bytes stand for shares": program(
        "if images.dtype == torch.uint8:",
        "    images, targets = images / 255, targets / 255",
        "self.total += (images - targets).square().sum().item()",
    ),
    "short integers stand for shares": program(
        "if images.dtype == torch.int16:",
        "    images, targets = images / 32768, targets / 32768",
        "self.total += (images - targets).abs().sum().item()",
        stored=SHORT,
    ),
    "small numbers": program(
        "self.total += (images - targets).square().long().sum().item()",
        stored="(images * 5).round().clamp(0, 5).to(torch.int8)",
    ),
    "64 bits": program(
        "self.total += (images - targets).square().sum().item()",
        stored=BYTES.replace("uint8", "int64"),
    ),
    "a sum": program("self.total += (images.sum() - targets.sum()).abs().item()"),
    "only bytes are taken": program(
        "assert images.dtype == torch.uint8",
        "self.total += (images ^ targets).float().sum().item()",
    ),
}
APIS = dict.fromkeys(WRONG, "Metric.update")
LINES = dict.fromkeys(WRONG, "metric.update(")
