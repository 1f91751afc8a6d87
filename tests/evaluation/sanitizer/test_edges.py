"""A backward pass may begin from an edge of the graph, in torch 2.7 and newer:
it is looked at as that of a tensor.
"""

import pytest
from support import toys
from support.paths import ROOT

from runner.environments import builder, spec
from runner.progress.lines import on_stderr

PROGRAM = """
from torch.autograd.graph import get_gradient_edge

model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randint(3, (16,))
for iteration in range(6):
    optimizer.zero_grad()
    out = model(x)
    entropy, other = F.cross_entropy(out, y), out.square().mean()
    loss = {loss}
    edge = get_gradient_edge(loss)
    torch.autograd.backward([edge] if iteration % 2 else edge, [torch.ones(())])
    optimizer.step()
"""
LOSSES = {
    "constant-term": "entropy + other.item()",
    "focal-of-mean": "(1 - torch.exp(-entropy)) * entropy",
    "": "entropy + other",
}


@pytest.mark.real
def test_each_is_accused_as_of_a_tensor(tmp_path):
    python = builder.build(spec.load(ROOT, "torch-2.13.0"), on_stderr()).python
    verdicts = toys.run(
        python,
        tmp_path,
        {name or "right": PROGRAM.format(loss=loss) for name, loss in LOSSES.items()},
    )
    assert {name: list(verdicts[name or "right"].errors) for name in LOSSES} == {
        n: [n] if n else [] for n in LOSSES
    }
