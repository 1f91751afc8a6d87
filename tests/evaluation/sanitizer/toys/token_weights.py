"""Toys of `token-weights`: what it accuses, in which iteration, and what it does not."""

NAME = "token-weights"

TRAIN = """
model = nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
points, labels = torch.randn(40, 4), torch.randint(4, (40,))
sizes = {sizes}
for iteration in range(1, 6):
    optimizer.zero_grad()
    for number, size in enumerate(sizes):
        targets = labels.clone()
        targets[size:] = -100
        {loss}
        loss.backward()
        {every}
    optimizer.step()
"""


def train(
    loss="loss = F.cross_entropy(model(points), targets)", sizes="(10, 30, 20)", every="pass"
):
    return TRAIN.format(loss=loss, sizes=sizes, every=every)


WHOLE = "loss = F.cross_entropy(model(points[:size]), labels[:size])"
WRONG = {
    "means": train(),
    "means of a module": train("loss = nn.CrossEntropyLoss()(model(points), targets) / 3"),
    "two passes": train(sizes="(10, 30)").replace(
        "enumerate(sizes)", "enumerate(sizes[:: 1 if iteration % 2 else -1])"
    ),
}
LINES = dict.fromkeys(WRONG, "optimizer.step()")
ODD = {
    "nothing is left out": train(WHOLE),
    "a little": train(sizes="(20, 24, 20)").replace("range(1, 6)", "range(1, 30)"),
}
RIGHT = {
    "weighted passes": train("loss = F.cross_entropy(model(points), targets) * size / sum(sizes)"),
    "several tasks": train(
        "loss = F.cross_entropy(model(points)[:, : 2 + number], targets % (2 + number))"
    )
    .replace("targets[size:] = -100", "targets = targets[:size]")
    .replace("model(points)", "model(points[:size])"),
    "sums": train("loss = F.cross_entropy(model(points), targets, reduction='sum') / sum(sizes)"),
    "equal": train(sizes="(10, 10, 10)"),
    "a smaller last one": train(sizes="(30, 30, 30, 7)"),
    "one pass a step": train(every="optimizer.step(); optimizer.zero_grad()"),
    "two losses": train(
        "loss = F.cross_entropy(model(points), targets) + F.cross_entropy(model(points), labels)"
    ),
    "two passes, the last one smaller": train(sizes="(30, 7)"),
}

ADVISED, SILENT = ODD, True
