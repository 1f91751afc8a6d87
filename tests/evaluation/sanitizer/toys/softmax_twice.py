"""Of `softmax-twice`: what it accuses, and what it does not."""

NAME = "softmax-twice"
PROGRAM = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scores, self.values = nn.Linear(4, 6), nn.Linear(6, 3)

    def forward(self, x):
        scores = self.scores(x)
        {line}
        return self.values(weights)


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for iteration in range(10):
    optimizer.zero_grad()
    F.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 3)).backward()
    optimizer.step()
"""


def program(line):
    return PROGRAM.format(line=line)


WRONG = {
    "functions": program("weights = F.softmax(F.softmax(scores, dim=1), dim=1)"),
    "methods": program("weights = scores.softmax(-1).softmax(-1)"),
    "in another shape": program(
        "weights = torch.softmax(scores.softmax(1).view(2, 4, 6), -1).flatten(0, 1)"
    ),
    "a module": program("weights = nn.Softmax(1)(scores.softmax(1))"),
}
APIS = dict.fromkeys(WRONG, "torch.nn.functional.softmax")
LINES = dict.fromkeys(WRONG, "weights = ")
del LINES["in another shape"]
EVALUATION = """
with torch.no_grad():
    for _ in range({calls}):
        scores = torch.randn({rows}, 5)
        {line}
"""


def evaluated(line, calls=1, rows=32):
    return program("weights = scores.softmax(1)") + EVALUATION.format(
        line=line, calls=calls, rows=rows
    )


WRONG["many rows that are evaluated"] = evaluated("scores.softmax(1).clone().softmax(1)")
WRONG["few rows that are evaluated"] = evaluated(
    "torch.softmax(torch.cat([scores.softmax(1)]), dim=-1)", calls=4, rows=6
)
RIGHT = {
    "one row": evaluated("scores[0].softmax(0)", calls=4),
    "weights that begin even": program("weights = self.mix.softmax(0) * scores").replace(
        "nn.Linear(6, 3)\n",
        "nn.Linear(6, 3)\n        self.mix = nn.Parameter(torch.full((6,), 1 / 6))\n",
    ),
    "evaluated": evaluated("scores.softmax(1)", calls=4),
    "labels": evaluated("F.one_hot(scores.argmax(1), 5).float().softmax(1)", calls=4),
    "evaluated once": evaluated("scores.softmax(1).softmax(1)", rows=6),
    "once": program("weights = scores.softmax(1)"),
    "sharpened": program("weights = (10 * scores.softmax(1)).softmax(1)"),
    "logarithms": program("weights = scores.softmax(1).log().softmax(1)"),
    "another axis": program("weights = scores.softmax(1).softmax(0)"),
    "a layer in between": program(
        "weights = (scores.softmax(1) @ self.values.weight.T @ self.values.weight).softmax(1)"
    ),
}
