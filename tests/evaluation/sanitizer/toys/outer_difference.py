"""Toys of `outer-difference`: what it accuses, in which iteration, and what it does not."""

NAME = "outer-difference"

PROGRAM = """
model, more = nn.Linear(4, 1), nn.Linear(16, 1)
optimizer = torch.optim.Adam([*model.parameters(), *more.parameters()], lr=0.01)
points, targets = torch.randn(16, 4), torch.randn(16)
column = torch.randn(16, 1)
for iteration in range(4):
    optimizer.zero_grad()
    out = model(points)
    {loss}
    loss.backward()
    optimizer.step()
"""


def program(loss):
    return PROGRAM.format(loss=loss)


BY_HAND = {
    "squares": program("loss = (out - targets).square().mean()"),
    "turned round": program("loss = (targets - out).pow(2).mean()"),
    "absolute": program("loss = (out - targets).abs().sum() / 16"),
    "by itself": program("d = out - targets; loss = (d * d).mean().sqrt()"),
    "with more": program("loss = ((out - targets) ** 2).mean() + 0.1 * model.weight.abs().sum()"),
    "less an entropy": program(
        "loss = (out - targets).square().mean() - 0.01 * out.sigmoid().log().mean()"
    ),
    "two terms": program("loss = (out - targets).square().mean() + (out - targets).abs().mean()"),
    "with smoothness": program(
        "loss = (out - targets).abs().mean() + (out[1:] - out[:-1]).abs().mean()"
    ),
    "squeezed prediction": program("loss = (out.squeeze(1) - column).square().mean()"),
}
BY_FUNCTION = {
    "mse_loss": program("loss = F.mse_loss(out, targets)"),
    "l1_loss": program("loss = F.l1_loss(out.squeeze(), column)"),
    "huber_loss": program("loss = F.huber_loss(out, targets)"),
}
RIGHT = {
    "plain": program("loss = (out.squeeze(1) - targets).square().mean()"),
    "columns": program("loss = (out - column).square().mean()"),
    "one sample": program("loss = (out[:1] - targets[:1]).square().mean()"),
    "unsqueezed": program("loss = (out.squeeze(1)[:, None] - targets).abs().mean()"),
    "unsqueezed target": program("loss = (out.squeeze(1) - targets.unsqueeze(1)).abs().mean()"),
    "rows and columns": program("loss = (out - targets[None]).square().mean()"),
    "pairs": program("loss = -(out - out.detach().squeeze(1)).sigmoid().log().mean()"),
    "pairs with gradients": program("loss = (out - out.squeeze(1)).square().mean()"),
    "as many centres": program("loss = more((-(out - targets) ** 2).exp()).square().mean()"),
    "features": program("loss = more((out - targets) ** 2).square().mean()"),
    "each by itself": program("loss = F.mse_loss(out, column, reduction='none').mean()"),
    "function": program("loss = F.mse_loss(out, column)"),
    "energy distance": program(
        "loss = (out - targets).abs().mean() - 0.5 * (out - out.T).abs().mean()"
    ),
    "energy distance by cdist": program(
        "loss = 2 * (out - targets).abs().mean() - torch.cdist(out, out).mean()"
    ),
    "energy distance of rows": program(
        "row = out.squeeze(1); loss = (row - column).abs().mean() - (row[:, None] - "
        "row[None]).abs().mean() / 2"
    ),
    "energy distance of two draws": program(
        "other = model(points.flip(1)); loss = (out - targets).abs().mean() - 0.5 * (out - "
        "other.T).abs().mean()"
    ),
    "distances to as many centres": program(
        "loss = (((out - targets) ** 2).sum(1) - targets).square().mean()"
    ),
    "only printed": program("(out - targets).square().mean(); loss = F.mse_loss(out, column)"),
    "numbers and empty ones": program(
        "(1 - out[:0]) - targets[:0]; loss = (out - column).mean() - torch.tensor(1.0)"
    ),
}

WRONG = BY_HAND | BY_FUNCTION
ITERATIONS = dict.fromkeys(WRONG, 1)
APIS = dict.fromkeys(BY_HAND, "torch.Tensor.sub")
APIS |= {name: f"torch.nn.functional.{name}" for name in BY_FUNCTION}
