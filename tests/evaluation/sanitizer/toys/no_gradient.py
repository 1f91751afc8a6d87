"""Toys of `no-gradient`: what it accuses, in which iteration, and what it does not."""

NAME = "no-gradient"

TRAIN = """
body, head = nn.Linear(2, 8), nn.Linear(8, 2)
{freeze}
optimizer = torch.optim.SGD({parameters}, lr=0.1)
points, labels = torch.randn(64, 2), torch.randint(2, (64,))
for iteration in range(1, 9):
    optimizer.zero_grad()
    loss = F.cross_entropy(head(torch.tanh(body(points))), labels)
    {backward}
    {step}
"""


def train(
    freeze="", parameters="head.parameters()", backward="loss.backward()", step="optimizer.step()"
):
    return TRAIN.format(freeze=freeze, parameters=parameters, backward=backward, step=step)


TWO = """
body, head = nn.Linear(2, 8), nn.Linear(8, 2)
optimizers = [torch.optim.SGD(each.parameters(), lr=0.1) for each in (body, head)]
points, labels = torch.randn(64, 2), torch.randint(2, (64,))
for iteration in range(12):
    [each.zero_grad() for each in optimizers]
    hidden = body(points)
    (hidden.square().sum() if iteration < 6 else F.cross_entropy(head(hidden.detach()), labels)).backward()
    [each.step() for each in optimizers]
"""
FAULTS = {
    "frozen": (3, train("head.requires_grad_(False)")),
    "of another model": (3, train("other = nn.Linear(8, 2)", "other.parameters()")),
    "cleared before the step": (3, train(step="optimizer.zero_grad(); optimizer.step()")),
    "from the third on": (
        5,
        train(step="iteration < 3 or optimizer.zero_grad(); optimizer.step()"),
    ),
}
RIGHT = {
    "plain": train(),
    "no backward pass": train(backward="pass"),
    "two of three without": train(step="iteration % 3 == 0 or optimizer.zero_grad(); optimizer.step()"),
    "gradients by hand": train("head.requires_grad_(False)", backward="loss.backward(); head.weight.grad = "
                               "torch.ones(2, 8)"),
    "updated by hand": train("head.requires_grad_(False)", step="head.weight.data.mul_(0.9); optimizer.step()",
                             backward="loss.backward(); head.weight.add_(0)"),
    "steps in a row": train(backward="loss.backward() if iteration == 1 else None"),
    "in turns": TWO,
}  # fmt: skip

WRONG = {name: program for name, (_, program) in FAULTS.items()}
ITERATIONS = {name: iteration for name, (iteration, _) in FAULTS.items()}
