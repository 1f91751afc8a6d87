"""Of `early-schedule`: what it accuses, and what it does not."""

NAME = "early-schedule"
PROGRAM = """
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, TensorDataset

x, y = torch.randn(256, 4), torch.randint(2, (256,))
loader = DataLoader(TensorDataset(x, y), {size}, shuffle=True)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = lr_scheduler.{scheduler}
for epoch in range({epochs}):
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        {batch}
    {epoch}
"""
STEPS = "MultiStepLR(optimizer, [3, 6, 9], 0.1)"
COSINE = "CosineAnnealingLR(optimizer, {})"
STEP = "scheduler.step()"


def program(scheduler, batch=STEP, epoch="pass", epochs=5, size=4):
    return PROGRAM.format(scheduler=scheduler, batch=batch, epoch=epoch, epochs=epochs, size=size)


# A loader without a length.
STREAM = """
from torch.utils.data import IterableDataset

class Stream(IterableDataset):
    def __iter__(self):
        return zip(points, labels)

points, labels = x, y
loader = DataLoader(Stream(), 4)
model ="""


def streamed(text):
    """The program with a dataset that is read as a stream."""
    return text.replace("\nmodel =", STREAM, 1)


WRONG = {
    "milestones": program(STEPS),
    "a cosine": program(COSINE.format(10)),
    "a power": program("ExponentialLR(optimizer, 0.92)"),
    "a line down": program("LambdaLR(optimizer, lambda step: max(1e-3, 1 - step / 50))"),
}
APIS = {"milestones": "torch.optim.lr_scheduler.MultiStepLR"}
LINES = dict.fromkeys(WRONG, "optimizer.step()")
RIGHT = {
    "for each epoch": program(STEPS, "pass", STEP),
    "milestones in steps": program("MultiStepLR(optimizer, [100, 200, 300], 0.1)"),
    "a long cosine": program(COSINE.format(320)),
    "restarts": program("CosineAnnealingWarmRestarts(optimizer, 10)"),
    "cycles": program("CyclicLR(optimizer, 1e-4, 0.1, 5)"),
    "again in each epoch": program(
        "LambdaLR(optimizer, lambda step: 1.0 if step % 64 < 50 else 1e-3)"
    ),
    "a warm-up": program("LinearLR(optimizer, 0.1, 1.0, 20)"),
    "one step down": program("MultiStepLR(optimizer, [20], 0.1)"),
    "few epochs": program(STEPS, epochs=3),
    "a stream": streamed(program(STEPS, "pass", STEP)),
    "few steps": program(STEPS, size=64),
    "one cycle": program("OneCycleLR(optimizer, 0.1, 320)"),
    "a cosine over the epochs": program(COSINE.format(2), "pass", STEP, epochs=9),
}
