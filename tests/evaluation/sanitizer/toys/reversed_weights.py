"""Of `reversed-weights`: what it accuses, and what it does not."""

NAME = "reversed-weights"
PROGRAM = """
model = nn.Linear(6, {classes})
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
shares = torch.tensor({shares})
{setup}
for iteration in range({steps}):
    labels = torch.multinomial(shares, 64, True)
    out = model(torch.randn(64, 6))
    {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def program(
    setup, loss="loss = F.cross_entropy(out, labels, weights)", shares="[0.9, 0.1]", steps=15
):
    classes = 1 if "logits" in loss else shares.count(",") + 1
    return PROGRAM.format(setup=setup, loss=loss, shares=shares, classes=classes, steps=steps)


BINARY = "loss = F.binary_cross_entropy_with_logits(out[:, 0], labels.float(), pos_weight=positive)"
WRONG = {
    "the other order": program("weights = torch.tensor([9.0, 1.0])"),
    "shares": program("weights = shares", shares="[0.6, 0.3, 0.1]"),
    "numbers": program("weights = 1000 * shares", shares="[0.1, 0.15, 0.75]"),
    "log-probabilities": program(
        "weights = shares", "loss = F.nll_loss(out.log_softmax(1), labels, weights)"
    ),
    "positive ones": program("positive = torch.tensor(1 / 9)", BINARY),
}
APIS = dict.fromkeys(WRONG, "torch.nn.functional.cross_entropy")
APIS["log-probabilities"] = "torch.nn.functional.nll_loss"
APIS["positive ones"] = "torch.nn.functional.binary_cross_entropy_with_logits"
LINES = dict.fromkeys(WRONG, "loss = ")
RIGHT = {
    "the inverse": program("weights = 1 / shares"),
    "positive ones for negative ones": program("positive = torch.tensor(9.0)", BINARY),
    "even": program("weights = torch.ones(2)"),
    "a cost": program("weights = torch.tensor([2.0, 1.0])"),
    "few batches": program("weights = shares", steps=8),
    "classes of one size": program("weights = torch.tensor([3.0, 1.0])", shares="[0.5, 0.5]"),
    "by the root": program("weights = shares.rsqrt()", shares="[0.6, 0.3, 0.1]"),
}
