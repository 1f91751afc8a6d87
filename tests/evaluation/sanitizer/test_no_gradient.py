"""Of `no-gradient`: what it accuses, in which iteration, and what it does not."""

import pytest
from support import toys

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
WRONG = {
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


@pytest.fixture(scope="module")
def said(torch_python, tmp_path_factory):
    wrong = {name: program for name, (_, program) in WRONG.items()}
    return toys.run(torch_python, tmp_path_factory.mktemp("toys"), wrong | RIGHT)


@pytest.mark.real
@pytest.mark.parametrize("name", WRONG)
def test_accused_in_the_iteration_in_which_it_acts(said, name):
    assert said[name].errors == {"no-gradient": WRONG[name][0]}


@pytest.mark.real
@pytest.mark.parametrize("name", RIGHT)
def test_not_accused(said, name):
    assert said[name].errors == {}
