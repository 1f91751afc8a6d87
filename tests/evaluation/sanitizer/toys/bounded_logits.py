"""Of `bounded-logits`: what it accuses, and what it does not."""

NAME = "bounded-logits"
PROGRAM = """
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randint(3, (16,))
for iteration in range(4):
    optimizer.zero_grad()
    loss = {loss}
    loss.backward()
    optimizer.step()
"""


def program(loss):
    return PROGRAM.format(loss=loss)


WRONG = {
    "relu": program("F.cross_entropy(model(x).relu(), y)"),
    "sigmoid": program("F.cross_entropy(model(x).sigmoid(), y)"),
    "tanh": program("F.cross_entropy(model(x).tanh().view(16, 3), y)"),
    "relu 6": program("F.cross_entropy(F.relu6(model(x)), y)"),
    "relu, nll": program("F.nll_loss(model(x).relu().log_softmax(1), y)"),
    "softmax, nll": program("F.nll_loss(model(x).softmax(1).log_softmax(1), y)"),
    "relu, binary": program(
        "F.binary_cross_entropy_with_logits(F.relu(model(x))[:, 0], (y == 1).float())"
    ),
}
RIGHT = {
    "plain": program("F.cross_entropy(model(x), y)"),
    "wide bounds": program("F.cross_entropy(F.hardtanh(model(x), -30, 30), y)"),
    "nll": program("F.nll_loss(model(x).log_softmax(1), y)"),
    "scaled": program("F.cross_entropy(10 * model(x).tanh(), y)"),
    "pooled": program("F.cross_entropy(model(x).relu().view(16, 3, 1, 1).mean((2, 3)), y)"),
    "leaky": program("F.cross_entropy(F.leaky_relu(model(x)), y)"),
    "hidden": program("F.cross_entropy(model(x).relu() @ torch.randn(3, 3), y)"),
}
