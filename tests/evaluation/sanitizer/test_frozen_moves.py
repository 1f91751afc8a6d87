"""Of `frozen-moves`: what it accuses, and what it does not."""

import pytest
from support import toys

NAME = "frozen-moves"
PROGRAM = """
body, head = nn.Linear(4, 8), nn.Linear(8, 2)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1, momentum={momentum})
x, y = torch.randn(16, 4), torch.randint(2, (16,))
for iteration in range(8):
    {freeze}
    optimizer.zero_grad(set_to_none={none})
    F.cross_entropy(head(body(x)), y).backward()
    optimizer.step()
"""


def program(freeze="iteration == 4 and body.requires_grad_(False)", momentum=0.9, none=False):
    return PROGRAM.format(freeze=freeze, momentum=momentum, none=none)


WRONG = {"momentum": program()}
RIGHT = {
    "no gradient left": program(none=True),
    "no momentum": program(momentum=0.0),
    "not frozen": program("pass"),
    "frozen from the beginning": program("body.requires_grad_(False)"),
    "by hand": program(
        "body.requires_grad_(False); body.weight.grad = torch.randn(8, 4); body.bias.grad = torch.randn(8)", none=True
    ),
}


@pytest.fixture(scope="module")
def said(torch_python, tmp_path_factory):
    return toys.run(torch_python, tmp_path_factory.mktemp("toys"), WRONG | RIGHT)


@pytest.mark.real
@pytest.mark.parametrize("name", WRONG)
def test_accused(said, name):
    assert list(said[name].errors) == [NAME]


@pytest.mark.real
@pytest.mark.parametrize("name", RIGHT)
def test_not_accused(said, name):
    assert said[name].errors == {}
