"""Toys of `recompiles`: what it accuses, in which iteration, and what it does not."""

NAME = "recompiles"

TRAIN = """
model = nn.Linear(2, 2)
optimizer = torch.optim.Adam(model.parameters(), lr={rate})
update = {update}
points, labels = torch.randn(64, 2), torch.randint(2, (64,))
for iteration in range(1, 9):
    optimizer.zero_grad()
    {change}
    loss = F.cross_entropy(model(points), labels)
    loss.backward()
    {step}
"""
STEP = "torch.compile(optimizer.step, backend='eager')"
WHOLE = "torch.compile(lambda: optimizer.step(), backend='eager')"


def train(change, update=STEP, rate="0.01", step="update()"):
    return TRAIN.format(change=change, update=update, rate=rate, step=step)


def rate(value):
    return f"optimizer.param_groups[0]['lr'] = {value}"


# The iteration of the second compilation for another value.
FAULTS = {
    "a float": (3, train(rate("0.01 / iteration"))),
    "inside of a function": (3, train(rate("0.01 / iteration"), WHOLE)),
    "from the fourth on": (5, train(rate("0.01 / max(iteration, 3)"))),
}
RIGHT = {
    "constant": train("pass"),
    "in a tensor": train("optimizer.param_groups[0]['lr'].mul_(0.9)", rate="torch.tensor(0.01)"),
    "once": train(rate("0.01 if iteration < 5 else 0.001")),
    "two values in turns, each compiled "
    "once": train(rate("0.01 if iteration % 2 else torch.tensor(0.01)")),
    "not compiled": train(rate("0.01 / iteration"), "optimizer.step"),
    "other gradients": train("pass", step=rate("0.01 / iteration") + "; model.zero_grad() if iteration % 2 else None; "
                             "model.bias.requires_grad_(iteration < 4); update()"),
    "something else is compiled": train(rate("0.01 / iteration"), "optimizer.step",
        step="torch.compile(lambda x: x * iteration, backend='eager')(points); update()"),
    "in a closure": train(rate("0.01 / iteration"), "optimizer.step", step="update(lambda: [torch.compile(lambda x: x *"
                          " iteration, backend='eager')(points), model(points).sum().backward()][0].sum())"),
}  # fmt: skip

WRONG = {name: program for name, (_, program) in FAULTS.items()}
ITERATIONS = {name: iteration for name, (iteration, _) in FAULTS.items()}
