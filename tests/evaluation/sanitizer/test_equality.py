"""A metric whose `==` makes another metric is left alone, and switches no invariant off."""

import pytest
from support import toys

PROGRAM = """
class Score(nn.Module):
    def __init__(self, *parts):
        super().__init__()
        for number, part in enumerate(parts):
            setattr(self, "part" + str(number), part)

    def forward(self, out, y):
        return (out.argmax(dim=1) == y).float().mean()

    def __eq__(self, other):
        return Score(self, other)

    def __hash__(self):
        return hash("score")

model = nn.Sequential(nn.Linear(4, 3), nn.Dropout(0.1))
score, rest = Score(), Score(nn.Identity())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randint(3, (16,))
for epoch in range(4):
    for _ in range(3):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        score(model(x), y)
        rest(model(x), y)
    model.train()
"""


@pytest.mark.real
def test_a_module_with_its_own_equality(torch_python, tmp_path):
    verdict = toys.run(torch_python, tmp_path, {"right": PROGRAM})["right"]
    assert not verdict.alarms
