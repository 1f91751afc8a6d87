"""Of `log-probabilities`: what it accuses, and what it does not."""

import pytest
from support import toys

NAME = "log-probabilities"
PROGRAM = """
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.randint(3, (16,))
teacher, weights = torch.randn(16, 3).softmax(1), torch.randn(16, 1)
for iteration in range(4):
    optimizer.zero_grad()
    loss = {loss}
    loss.backward()
    optimizer.step()
"""


def program(loss):
    return PROGRAM.format(loss=loss)


CTC = "F.ctc_loss({}, torch.tensor([[1, 2]]), torch.tensor([16]), torch.tensor([2]))"
WRONG = {
    "probabilities": program("F.nll_loss(model(x).softmax(1), y)"),
    "outputs": program("F.nll_loss(model(x), y)"),
    "another axis": program("F.nll_loss(model(x).log_softmax(0), y)"),
    "probabilities to kl_div": program("F.kl_div(model(x).softmax(1), teacher, reduction='batchmean')"),
    "outputs to kl_div": program("F.kl_div(model(x), teacher, reduction='batchmean')"),
    "outputs to ctc": program(CTC.format("model(x)[:, None]")),
}
RIGHT = {
    "plain": program("F.nll_loss(model(x).log_softmax(1), y)"),
    "policy": program("F.nll_loss(model(x).log_softmax(1) * weights, y)"),
    "some classes": program("F.nll_loss(model(x).log_softmax(1)[:, :2], y.clamp(max=1))"),
    "images": program("F.nll_loss(model(x).log_softmax(1)[..., None].expand(16, 3, 2), y[:, None].expand(16, 2))"),
    "kl_div": program("F.kl_div(model(x).log_softmax(1), teacher, reduction='batchmean')"),
    "ctc": program(CTC.format("model(x).log_softmax(1)[:, None]")),
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
