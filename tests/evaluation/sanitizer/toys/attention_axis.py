"""Of `attention-axis`: what it accuses, and what it does not."""

NAME = "attention-axis"
PROGRAM = """
class Attention(nn.Module):
    def __init__(self, size=8, heads=2):
        super().__init__()
        self.heads = heads
        self.words = nn.Linear(4, size)
        self.query, self.key, self.value = (nn.Linear(size, size) for _ in range(3))
        self.slots, self.drop = nn.Parameter(torch.randn(3, size)), nn.Dropout(0.1)
        self.score, self.out = nn.Linear(size, 1), nn.Linear(size, 2)

    def forward(self, x):
        x = self.words(x)
        batch, length, size = x.shape
        q, k, v = self.query(x), self.key(x), self.value(x)
        {body}
        return self.out(y)


model = Attention()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for iteration in range(6):
    optimizer.zero_grad()
    F.mse_loss(model(torch.randn(6, 5, 4)).flatten(1)[:, :2], torch.randn(6, 2)).backward()
    optimizer.step()
"""
SPLIT = "q, k, v = (t.view(batch, length, 2, 4).transpose(1, 2) for t in (q, k, v))"
JOIN = "y = (weights @ v).transpose(1, 2).reshape(batch, length, size)"


def program(*lines):
    return PROGRAM.format(body="\n        ".join(lines))


WRONG = {
    "queries": program("y = F.softmax(q @ k.transpose(1, 2), dim=1) @ v"),
    "scaled and dropped out": program(
        "weights = self.drop(F.softmax(torch.bmm(q, k.transpose(1, 2)) / 3, dim=1))",
        "y = torch.bmm(weights, v)",
    ),
    "heads": program(SPLIT, "weights = (q @ k.transpose(-1, -2)).softmax(1)", JOIN),
    "queries of heads": program(SPLIT, "weights = (q @ k.transpose(-1, -2)).softmax(-2)", JOIN),
    "turned round": program("y = (q @ k.transpose(1, 2)).softmax(-1).transpose(1, 2) @ v"),
}
WRONG["the axis of the scores"] = program("y = (self.score(x).softmax(-1) * v).sum(1)")
APIS = dict.fromkeys(WRONG, "torch.nn.functional.softmax")
RIGHT = {
    "clusters along the first axis": program(
        "weights = self.query(x[0]).T.softmax(0)",
        "y = (weights[:, :, None] * v[0][None]).sum(1).expand(batch, -1, -1)",
    ),
    "a context of one": program(
        "one = k.mean(1, keepdim=True)", "y = (q @ one.transpose(1, 2)).softmax(-1) @ one"
    ),
    "two sets of weights": program(
        "scores = q @ k.transpose(1, 2)",
        "y = scores.softmax(2) @ (scores.softmax(1).transpose(1, 2) @ v)",
    ),
    "two sets of weights, the other way round": program(
        "scores = q @ k.transpose(1, 2)",
        "y = (scores.softmax(2) @ scores.softmax(1).transpose(1, 2)) @ v",
    ),
    "clusters of clusters": program(
        "first = self.query(x).softmax(-1)",
        "edges = first.transpose(1, 2) @ (k @ k.transpose(1, 2)) @ first",
        "second = (edges @ self.key(first.transpose(1, 2) @ v)).softmax(-1)",
        "y = (second.transpose(1, 2) @ (first.transpose(1, 2) @ v))",
    ),
    "routing": program(
        "votes, scores = torch.stack([q, k, v], 2), torch.zeros(batch, length, 3)",
        "for _ in range(2):",
        "    weights = scores.softmax(2)",
        "    y = (weights.transpose(1, 2)[:, :, None] @ votes.transpose(1, 2))[:, :, 0]",
        "    scores = scores + (votes.transpose(1, 2) @ y[..., None])[..., 0].transpose(1, 2)",
    ),
    "what is written": program("y = self.score(x).softmax(1) @ v.mean(1, keepdim=True)"),
    "keys": program("y = F.softmax(q @ k.transpose(1, 2), dim=-1) @ v"),
    "keys of heads": program(SPLIT, "weights = (q @ k.transpose(-1, -2) / 2).softmax(-1)", JOIN),
    "masked": program(
        "scores = (q @ k.transpose(1, 2)).masked_fill(torch.ones(5, 5).triu(1).bool(), -1e9)",
        "y = self.drop(scores.softmax(-1)) @ v",
    ),
    "keys in front": program("y = (k @ q.transpose(1, 2)).softmax(1).transpose(1, 2) @ v"),
    "an einsum": program("y = torch.einsum('bij,bjd->bid', (q @ k.mT).softmax(-1), v)"),
    "places": program("y = (self.score(x).softmax(1) * v).sum(1)"),
    "slots that compete": program(
        "weights = (k @ q.transpose(1, 2)).softmax(-1)",
        "weights = weights / weights.sum(1, keepdim=True)",
        "y = weights.transpose(1, 2) @ v",
    ),
    "clusters": program("y = (x @ self.slots.T).softmax(-1).transpose(1, 2) @ v"),
    "a layer that assigns": program("y = self.query(x).softmax(-1).transpose(1, 2) @ v"),
    "linear attention": program(
        "context = k.softmax(1).transpose(1, 2) @ v", "y = q.softmax(-1) @ context"
    ),
    "both ways": program(
        "scores = q @ k.transpose(1, 2)",
        "y = scores.softmax(2) @ v + scores.softmax(1).transpose(1, 2) @ v",
    ),
}
