"""Toys of `outer-comparison`: what it accuses, and what it does not."""

NAME = "outer-comparison"

PROGRAM = """
model = nn.Linear(4, {outputs})
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
points = torch.randn(48, 4)
labels = (points.sum(1) > 0).float()
columns = torch.where(points.sum(1, keepdim=True) > 0, 1.0, 0.0)
more = nn.Linear(4, 1)
for epoch in range(3):
    for part in torch.randperm(48).split(16):
        optimizer.zero_grad()
        out = model(points[part])
        {loss}.backward()
        optimizer.step()
    right = 0
    with torch.no_grad():
        for part in torch.arange(48).split(16):
            x, y, column = points[part], labels[part], columns[part]
            out = model(x)
            {count}
    print(right)
"""
BINARY = "F.binary_cross_entropy_with_logits(out, columns[part])"
CLASSES = "F.cross_entropy(out, labels[part].long())"


def binary(count):
    return PROGRAM.format(outputs=1, loss=BINARY, count=count)


def classes(count):
    return PROGRAM.format(outputs=2, loss=CLASSES, count=count)


WRONG = {
    "a threshold": binary("right += ((out > 0).float() == y).float().mean().item()"),
    "eq": binary("right += out.sigmoid().round().eq(y).sum().item()"),
    "errors": binary("right += (y != (out > 0)).sum().item()"),
    "labels in a column": classes("right += (out.argmax(1) == column).float().mean().item()"),
    "the highest one": classes("right += (out.topk(1, 1).indices == y).sum().item()"),
    "an axis that stays": classes("right += (out.argmax(1, keepdim=True) == y).sum().item()"),
}
RIGHT = {
    "columns": binary("right += ((out > 0) == column).float().mean().item()"),
    "rows": binary("right += ((out.squeeze(1) > 0) == y).float().mean().item()"),
    "classes": classes("right += (out.argmax(1) == y).sum().item()"),
    "an axis that was added": classes("right += (out.argmax(1)[:, None] == y).sum().item()"),
    "pairs": classes("mask = y[:, None] == y; right += mask.sum().item()"),
    "pairs of columns": classes("right += (column == column.T).sum().item()"),
    "pairs that were copied": classes("right += (y.unsqueeze(1).clone() == y).sum().item()"),
    "classes by number": classes(
        "right += (out.topk(1, 1).indices == torch.arange(16)).sum().item()"
    ),
    "other rows": binary("right += ((x[:8, :1] > 0) == y[:8]).sum().item()"),
    "one sample": binary("right += ((out[:1] > 0) == y[:1]).sum().item()"),
    "the first three": classes("right += (out.topk(2, 1).indices == column).any(1).sum().item()"),
    "all the same": binary("right += ((out > 0) == torch.ones(16)).float().mean().item()"),
}
APIS = dict.fromkeys(WRONG, "torch.Tensor.eq")
LINES = dict.fromkeys(WRONG, "right +=")
