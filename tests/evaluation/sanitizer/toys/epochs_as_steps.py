"""Of `epochs-as-steps`: what it accuses, and what it does not."""

NAME = "epochs-as-steps"
PROGRAM = """
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(
    TensorDataset(torch.randn(48, 4), torch.randint(2, (48,))), batch_size=8, shuffle=True
)
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
COSINE = "CosineAnnealingLR(optimizer, {})"
STEP = "scheduler.step()"


def program(scheduler, batch=STEP, epoch="pass", epochs=10):
    return PROGRAM.format(scheduler=scheduler, batch=batch, epoch=epoch, epochs=epochs)


WRONG = {
    "a cosine": program(COSINE.format(10)),
    "a line": program("LinearLR(optimizer, 1.0, 0.5, total_iters=10)"),
    "a power": program("PolynomialLR(optimizer, 10, 0.1)"),
    "gone at the end": program(COSINE.format(10)) + "del scheduler, optimizer, loader\n",
}
APIS = {"a cosine": "torch.optim.lr_scheduler.CosineAnnealingLR"}
LINES = dict.fromkeys(WRONG, "scheduler = lr_scheduler.")
RIGHT = {
    "with epochs": program(COSINE.format(10), batch="pass", epoch=STEP),
    "made for batches": program(COSINE.format(60)),
    "another number": program("LinearLR(optimizer, 0.1, 1.0, total_iters=12)"),
    "a warm-up as torch has it": program("LinearLR(optimizer, 0.1)", epochs=5),
    "no length": program("StepLR(optimizer, 10, 0.9)"),
    "restarts": program("CosineAnnealingWarmRestarts(optimizer, 10)"),
}
