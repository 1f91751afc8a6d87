"""Of `softmax-of-one`: what it accuses, and what it does not."""

NAME = "softmax-of-one"
PROGRAM = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.scores = nn.GRU(4, 6, batch_first=True), nn.Linear(6, 1)
        self.classes = nn.Linear(6, 3)

    def forward(self, x):
        places, _ = self.cell(x)
        scores = self.scores(places)
        {line}
        return self.classes(summary)


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for iteration in range({steps}):
    optimizer.zero_grad()
    F.mse_loss(model(torch.randn(8, {length}, 4)), torch.randn(8, 3)).backward()
    optimizer.step()
"""


def program(line, steps=25, length="5"):
    return PROGRAM.format(line=line, steps=steps, length=length)


OF_ONE = "summary = F.softmax(scores, dim=-1)[:, 0] * places[:, -1]"
OF_PLACES = "summary = (F.softmax(scores, dim=1) * places).sum(1)"
ADVISED = {
    "the last axis": program(OF_ONE),
    "a method": program("summary = scores.softmax(2)[:, 1] * places[:, 0]"),
    "one class": program("summary = places[:, -1] * scores[:, -1].softmax(1)"),
}
SILENT = True
# The gradient of such a softmax is a zero, or a rest of rounding.
ROUNDING = {"zero-gradient"}
RIGHT = {
    "the places": program(OF_PLACES),
    "few calls": program(OF_ONE, steps=15),
    "places that grow": program(OF_PLACES, length="1 + iteration % 5"),
    "always one place": program(OF_PLACES, length="1"),
    "no gradients": program(
        "summary = F.softmax(scores.detach(), dim=-1)[:, 0] * places[:, -1] + 0 * scores[:, 0]"
    ),
}
