"""Of `unused-schedule`: what it accuses, and what it does not."""

NAME = "unused-schedule"
PROGRAM = """
from torch.optim import lr_scheduler as schedules
from torch.utils.data import DataLoader, TensorDataset

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{scheduler}
loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randint(2, (64,))), 16)
for epoch in range({epochs}):
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    {step}
"""
COSINE = "scheduler = schedules.CosineAnnealingLR(optimizer, 5)"
BOTH = (
    "parts = [schedules.LinearLR(optimizer), schedules.ExponentialLR(optimizer, 0.9)]; "
    "scheduler = schedules.ChainedScheduler(parts)"
)


def program(scheduler=COSINE, step="", epochs=5):
    return PROGRAM.format(scheduler=scheduler, step=step, epochs=epochs)


OWN = """
class Own(schedules.LRScheduler):
    def get_lr(self):
        return self.base_lrs

    def step(self):
        self.last_epoch = getattr(self, "last_epoch", 0) + 1
        for group, rate in zip(self.optimizer.param_groups, {rates}):
            group["lr"] = rate

scheduler = Own(optimizer)
"""
SINGLE = """
for iteration in range(20):
    x, y = next(iter(loader))
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
"""
EVALUATED = """
    for x, y in DataLoader(loader.dataset, 16):
        model(x)
"""
PART = """
        for part, _ in DataLoader(loader.dataset, 16):
            model(part)
"""
WRONG = {
    "never stepped": program(),
    "never stepped, evaluated": program(step=EVALUATED),
    "a new loader for each epoch": program().replace(
        "in loader", "in DataLoader(loader.dataset, 16)"
    ),
}
RIGHT = {
    "stepped": program(step="scheduler.step()"),
    "parts": program(BOTH, "scheduler.step()"),
    "one epoch": program(epochs=1),
    "one epoch, in parts": program(epochs=1).replace(
        "        optimizer.step()\n", "        optimizer.step()\n" + PART
    ),
    "a batch of each": program(epochs=0) + SINGLE,
    "a step of its own": program(
        OWN.format(rates="[0.1 * 0.9 ** self.last_epoch]"), "scheduler.step()"
    ),
    "a step of its own that changes nothing": program(
        OWN.format(rates="self.base_lrs"), "scheduler.step()"
    ),
    "by hand": program(step="optimizer.param_groups[0]['lr'] *= 0.9"),
    "constant": program("scheduler = schedules.LambdaLR(optimizer, lambda step: 1.0)"),
}
