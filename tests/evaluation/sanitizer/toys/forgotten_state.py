"""Of `forgotten-state`: what it accuses, in which iteration, and what it does not."""

NAME = "forgotten-state"
PROGRAM = """
import copy

model = nn.Linear(4, 3)
{before}
for iteration in range(24):
    x, y = torch.randn(16, 4), torch.randint(3, (16,))
    {each}
    for _ in range({steps}):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
"""
ADAM = "optimizer = torch.optim.Adam(model.parameters(), lr=0.01)"
SGD = "optimizer = torch.optim.SGD(model.parameters(), lr=0.01{})"


def program(each=ADAM, before="pass", steps=1):
    return PROGRAM.format(each=each, before=before, steps=steps)


WRONG = {
    "Adam": program(),
    "momentum": program(SGD.format(", momentum=0.9")),
    "kept in a list": program(f"{ADAM}; optimizers = globals().setdefault('all', []); optimizers.append(optimizer)"),
}  # fmt: skip
APIS = {"Adam": "torch.optim.Adam", "momentum": "torch.optim.SGD"}
LINES = {"Adam": "optimizer.step()"}
RIGHT = {
    "made once": program("pass", ADAM),
    "without a state": program(SGD.format("")),
    "several steps": program(steps=3),
    "copies for a task": program(f"start = globals().setdefault('start', model); model = copy.deepcopy(start); {ADAM}"),
    "at some steps": program(f"if iteration % 5 == 0: {ADAM}"),
    "in turns": program(
        "optimizer = optimizers[iteration % 12]",
        "optimizers = [torch.optim.Adam(model.parameters(), lr=0.01) for _ in range(12)]",
    ),
}  # fmt: skip
