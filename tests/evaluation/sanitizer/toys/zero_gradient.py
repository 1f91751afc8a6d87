"""Toys of `zero-gradient`: what it accuses, in which iteration, and what it does not."""

NAME = "zero-gradient"

TRAIN = """
body, head = nn.Linear(2, 8), nn.Linear(8, 2)
{before}
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
points, labels = torch.randn(64, 2), torch.randint(2, (64,))
for iteration in range(1, 31):
    optimizer.zero_grad()
    loss = {loss}
    loss.backward()
    optimizer.step()
"""


def train(loss="F.cross_entropy(head(torch.relu(body(points))), labels)", before=""):
    return TRAIN.format(loss=loss, before=before)


ODD = {
    "in the graph for nothing": train(
        "F.cross_entropy(body(points)[:, :2], labels) + 0 * head.weight.sum()"
    ),
    "dead": train(before="body.weight.data.zero_(); body.bias.data.fill_(-1.0)"),
}
RIGHT = {
    "plain": train(),
    "begins with zeros": train(before="head.weight.data.zero_(); head.bias.data.zero_()"),
    "nothing has a gradient": train(
        "0 * (body.weight.sum() + body.bias.sum() + head.weight.sum() + head.bias.sum())"
    ),
    "not used": train("F.cross_entropy(body(points)[:, :2], labels)"),
    "now and then": train(
        "F.cross_entropy(body(points)[:, :2], labels) + (iteration % 7 == 0) * head.weight.sum()"
    ),
}

ADVISED, SILENT = ODD, True
