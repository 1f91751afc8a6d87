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
RIGHT = {
    "once": program("weights = scores.softmax(1)"),
    "sharpened": program("weights = (10 * scores.softmax(1)).softmax(1)"),
    "logarithms": program("weights = scores.softmax(1).log().softmax(1)"),
    "another axis": program("weights = scores.softmax(1).softmax(0)"),
    "a layer in between": program(
        "weights = (scores.softmax(1) @ self.values.weight.T @ self.values.weight).softmax(1)"
    ),
}
