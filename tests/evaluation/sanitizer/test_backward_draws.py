"""Of `backward-draws`: what it accuses, and what it does not."""

import pytest
from support import toys

NAME = "backward-draws"
PROGRAM = """
from torch.utils.checkpoint import checkpoint

class Noise(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        return gradient + 0.01 * torch.randn_like(gradient)

model = nn.Sequential(nn.Linear(4, 8), nn.{layer}, nn.Linear(8, 2))
{before}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4, requires_grad=True), torch.randint(2, (16,))
for iteration in range(3):
    optimizer.zero_grad()
    F.cross_entropy({out}, y).backward()
    optimizer.step()
"""
NOISE = "model[0].weight.register_hook(lambda g: g + 0.01 * torch.randn_like(g))"


def program(out="model(x)", layer="Dropout()", before=""):
    return PROGRAM.format(out=out, layer=layer, before=before)


def checkpointed(kept, reentrant):
    return f"checkpoint(model, x, preserve_rng_state={kept}, use_reentrant={reentrant})"


WRONG = {"other numbers": program(checkpointed(False, False)), "reentrant": program(checkpointed(False, True))}
RIGHT = {
    "plain": program(),
    "the same numbers": program(checkpointed(True, False)),
    "reentrant, the same": program(checkpointed(True, True)),
    "nothing random": program(checkpointed(False, False), "ReLU()"),
    "a function of its own": program("Noise.apply(model(x))"),
    "noise by a hook": program(before=NOISE),
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
