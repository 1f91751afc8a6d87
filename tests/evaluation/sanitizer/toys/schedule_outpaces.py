"""Of `schedule-outpaces`: what it accuses, and what it does not."""

NAME = "schedule-outpaces"
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
    "a cosine": program(COSINE.format(30), each=STEP),
    "a line": program(LINE.format(30), each=STEP),
    "a power": program("PolynomialLR(optimizer, 30)", each=STEP),
    "with a warm-up": program(SEQUENCE.format(20), each=STEP),
    "twice": program(COSINE.format(60), each=STEP, k=2),
    "a training that is over": program(COSINE.format(30), each=STEP) + "del scheduler, optimizer\n",
    "twice in a row": program(COSINE.format(60), step="scheduler.step(); scheduler.step()", k=2),
}
APIS = {"a cosine": "torch.optim.lr_scheduler.CosineAnnealingLR"}
LINES = dict.fromkeys(WRONG, "scheduler = lr_scheduler.")
RIGHT = {
    "with the optimizer": program(COSINE.format(30), step=STEP),
    "made for batches": program(COSINE.format(120), each=STEP),
    "a power for batches": program("PolynomialLR(optimizer, 120)", each=STEP),
    "a short warm-up": program("LinearLR(optimizer, 0.1, 1.0, total_iters=8)", each=STEP),
    "no length": program("StepLR(optimizer, 30, 0.5)", each=STEP),
    "no accumulation": program(COSINE.format(120), each=STEP, k=1),
    "few steps": program(COSINE.format(10), each=STEP, batches=40),
    "a sequence for batches": program(SEQUENCE.format(110), each=STEP),
    "restarts": program("CosineAnnealingWarmRestarts(optimizer, 30)", each=STEP),
}
