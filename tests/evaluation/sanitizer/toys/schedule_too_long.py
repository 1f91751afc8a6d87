"""Of `schedule-too-long`: what it accuses, and what it does not."""

NAME = "schedule-too-long"
PROGRAM = """
from torch.optim import lr_scheduler

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scheduler = lr_scheduler.{scheduler}
for batch in range({batches}):
    x, y = torch.randn(8, 4), torch.randint(2, (8,))
    loss = F.cross_entropy(model(x), y) / {k}
    loss.backward()
    {each}
    if (batch + 1) % {k} == 0:
        optimizer.step()
        {step}
        optimizer.zero_grad()
"""
COSINE = "CosineAnnealingLR(optimizer, {})"
STEP = "scheduler.step()"


def program(scheduler, each="pass", step="pass", batches=120, k=4):
    return PROGRAM.format(scheduler=scheduler, each=each, step=step, batches=batches, k=k)


LINE = "LinearLR(optimizer, 1.0, 0.1, total_iters={})"
SEQUENCE = (
    "SequentialLR(optimizer, [lr_scheduler.LinearLR(optimizer, 0.1, 1.0, 10), "
    "lr_scheduler.CosineAnnealingLR(optimizer, {})], [10])"
)

WRONG = {
    "a cosine": program(COSINE.format(120), step=STEP),
    "one cycle": program("OneCycleLR(optimizer, 0.1, total_steps=120)", step=STEP),
    "a line": program(LINE.format(120), step=STEP),
    "with a warm-up": program(SEQUENCE.format(110), step=STEP),
    "twice": program(COSINE.format(120), step=STEP, k=2),
}
APIS = {"a cosine": "torch.optim.lr_scheduler.CosineAnnealingLR"}
LINES = dict.fromkeys(WRONG, "scheduler = lr_scheduler.")
RIGHT = {
    "made for steps": program(COSINE.format(30), step=STEP),
    "stepped for batches": program(COSINE.format(120), each=STEP),
    "a training that ends early": program(COSINE.format(300), step=STEP),
    "no accumulation": program(COSINE.format(240), step=STEP, k=1),
    "few steps": program(COSINE.format(40), step=STEP, batches=40),
    "a part of a step more": program(COSINE.format(80), step=STEP),
    "no length": program("ExponentialLR(optimizer, 0.99)", step=STEP),
    "from a checkpoint": program(COSINE.format(120), step=STEP).replace(
        "for batch", "scheduler.load_state_dict(scheduler.state_dict())\nfor batch"
    ),
    "two optimizers": program(COSINE.format(60), step=STEP, k=1, batches=30)
    .replace(
        "    loss.backward()",
        "    loss.backward()\n    other.step()\n"
        "    F.cross_entropy(model(x), y).square().backward()",
    )
    .replace("scheduler =", "other = torch.optim.SGD([model.bias], lr=0.1)\nscheduler =", 1),
}
