"""Of `rounded-away`: what it accuses, and what it does not."""

NAME = "rounded-away"
PROGRAM = """
model = nn.Linear(64, 64).to({dtype})
with torch.no_grad():
    model.weight.copy_(torch.randn(64, 64))
{optimizer}
x, y = torch.randn(16, 64).to({dtype}), torch.randn(16, 64).to({dtype})
for iteration in range({steps}):
    {schedule}
    optimizer.zero_grad()
    (model(x) - y).square().mean().backward()
    optimizer.step()
"""
ADAM = "optimizer = torch.optim.AdamW(model.parameters(), lr={})"
SMALL = ADAM.format(1e-4)
NEW = "x = torch.randn(16, 64).to(torch.bfloat16); y = x.flip(1)"
SCHEDULER = "; scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 1500)"
COSINE = "model.reset_parameters(); " + ADAM.format(0.003) + SCHEDULER
OWN = """
class Own(torch.optim.SGD):
    pass

optimizer = Own(model.parameters(), lr=1e-4)"""


def program(optimizer=SMALL, dtype="torch.bfloat16", steps=60, schedule=""):
    return PROGRAM.format(optimizer=optimizer, dtype=dtype, steps=steps, schedule=schedule)


WRONG = {"bfloat16": program()}
RIGHT = {
    "single precision": program(dtype="torch.float32"),
    "large steps": program(ADAM.format(0.03)),
    "warm-up": program(
        steps=5, schedule="optimizer.param_groups[0]['lr'] = 1e-5 * (1 + iteration)"
    ),
    "annealed": program(COSINE, steps=1500, schedule=f"scheduler.step(); {NEW}"),
    "no learning rate": program(ADAM.format(0.0)),
    "an optimizer of its own": program(OWN),
}
