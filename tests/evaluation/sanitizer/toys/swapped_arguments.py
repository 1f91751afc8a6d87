"""Of `swapped-arguments`: what it accuses, and what it does not."""

NAME = "swapped-arguments"
PROGRAM = """
model, other = nn.Linear(4, 1), nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randint(2, (16, 1)).float()
for iteration in range(3):
    optimizer.zero_grad()
    out = model(x)
    loss = {loss}
    loss.backward()
    optimizer.step()
"""


def program(loss):
    return PROGRAM.format(loss=loss)


WRONG = {
    "with logits": program("F.binary_cross_entropy_with_logits(y, out.sigmoid())"),
}
RIGHT = {
    "binary": program("F.binary_cross_entropy(out.sigmoid(), y)"),
    "squares": program("F.mse_loss(y, out)"),
    "soft labels": program("F.binary_cross_entropy(out.sigmoid(), other(x).sigmoid())"),
    "other direction": program(
        "F.kl_div(y.clamp(min=0.1).log(), out.sigmoid(), reduction='batchmean')"
    ),
}
