"""Of `leaked-target`: what it accuses, and what it does not."""

NAME = "leaked-target"
PROGRAM = """
class Model(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(inputs, 8), nn.ReLU(), nn.Linear(8, outputs))

    def forward(self, x, other=None):
        return self.layers(x)


model = Model({sizes})
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for iteration in range(6):
    table = torch.randn(64, 6)
    series = torch.randn(64, 12).cumsum(1)
    classes = torch.randint(3, (64,))
    x, y = {data}
    output = model({arguments})
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
MSE = "F.mse_loss(output, y)"


def program(data, sizes="6, 1", loss=MSE, arguments="x"):
    return PROGRAM.format(data=data, sizes=sizes, loss=loss, arguments=arguments)


WRONG = {
    "a column of the table": program("table, table[:, 2:3]"),
    "without its axis": program("table, table[:, 2]", loss="F.l1_loss(output[:, 0], y)"),
    "the last value of the window": program("series[:, :8, None], series[:, 7:8]", "8, 1"),
    "two values of the window": program("series[:, :8], series[:, 6:8]", "8, 2"),
    "classes": program(
        "torch.cat([table, classes[:, None].float()], 1), classes",
        "7, 3",
        "F.cross_entropy(output, y)",
    ),
    "two classes": program(
        "torch.cat([table, (classes > 1)[:, None].float()], 1), (classes > 1)[:, None].float()",
        "7, 1",
        "F.binary_cross_entropy_with_logits(output, y)",
    ),
}
LINES = dict.fromkeys(WRONG, "loss = ")
RIGHT = {
    "the other columns": program("table[:, :5], table[:, 5:]", "5, 1"),
    "the next value": program("series[:, :8], series[:, 8:9]", "8, 1"),
    "a part of what is to be foretold": program("series[:, :8], series[:, 7:9]", "8, 2"),
    "an autoencoder": program("table, table", "6, 6"),
    "half of it": program("table, table[:, :3]", "6, 3"),
    "a decoder": program("series[:, :8], series[:, 7:8]", "8, 1", arguments="x, y"),
    "few samples": program("table[:8], table[:8, :1]"),
    "one number for all": program("table * 0 + 1, table[:, :1] * 0 + 1"),
    "classes": program("table, classes", "6, 3", "F.cross_entropy(output, y)"),
    "a difference": program("series[:, :8], series[:, 8:9] - series[:, 7:8]", "8, 1"),
}
