"""Of `ignores-input`: what it accuses, and what it does not."""

NAME = "ignores-input"
PROGRAM = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x):
        {inside}
        return {output}


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for iteration in range(250):
    x = torch.randn(16, 4)
    y = (x[:, 0] > 0).long()
    optimizer.zero_grad()
    F.{loss}(model(x), y{type}).backward()
    optimizer.step()
"""
HEAD = "self.head(torch.relu(self.body(x)))"


def program(inside="pass", output=HEAD, loss="cross_entropy", type=""):
    return PROGRAM.format(inside=inside, output=output, loss=loss, type=type)


WRONG = {
    "dead units": program().replace(
        "    y =", "    if iteration == 30: model.body.bias.data.fill_(-100)\n    y ="
    ),
    "overwritten": program("x = torch.zeros_like(x)"),
    "divided as integers": program("x = (x.sigmoid() * 255) // 256"),
}
ITERATIONS = dict.fromkeys(WRONG, 200)
RIGHT = {
    "alive": program(),
    "the same samples": program().replace("torch.randn(16, 4)", "torch.randn(1, 4).expand(16, 4)"),
    "one number": program(output="self.head(torch.relu(self.body(x))).mean()", loss="mse_loss", type=".float().mean()"),
    "as far as it goes": program(
        output=f"(({HEAD})[:, 0] * 0 + 100).tanh()", loss="mse_loss", type=".float()"
    ),
    "rounded": program(
        output=f"(({HEAD})[:, 0] * 0 + 0.1).round()", loss="mse_loss", type=".float()"
    ),
    "few steps": program("x = torch.zeros_like(x)").replace("range(250)", "range(100)"),
}  # fmt: skip
