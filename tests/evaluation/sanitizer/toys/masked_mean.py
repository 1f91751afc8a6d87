"""Of `masked-mean`: what it accuses, in which iteration, and what it does not."""

NAME = "masked-mean"
PROGRAM = """
model = nn.Linear(4, 3)
rates = nn.Parameter(torch.ones(16))
optimizer = torch.optim.SGD([*model.parameters(), rates], lr=0.1)
points, labels = torch.randn(16, 4), torch.randint(3, (16,))
mask = torch.arange(16) < 9
sequences, words = torch.randn(2, 8, 4), torch.randint(3, (2, 8))
for iteration in range(4):
    optimizer.zero_grad()
    out = model(points)
    {loss}
    loss.backward()
    optimizer.step()
"""


def program(loss):
    return PROGRAM.format(loss=loss)


WRONG = {
    "mask": program("loss = (F.cross_entropy(out, labels) * mask).sum() / mask.sum()"),
    "the mask first": program("loss = (mask.float() * F.cross_entropy(out, labels)).mean()"),
    "column": program("loss = (nn.CrossEntropyLoss()(out, labels) * mask[:, None]).mean()"),
    "sum of losses": program(
        "loss = (F.cross_entropy(out, labels, reduction='sum') * mask.float()).mean()"
    ),
    "where": program("loss = torch.where(mask, F.cross_entropy(out, labels), 0.0).mean()"),
    "words": program(
        "logits = model(sequences); "
        "loss = (F.cross_entropy(logits.flatten(0, 1), words.flatten()) * (words > 0)).sum()"
    ),
    "weights of samples": program(
        "loss = (F.mse_loss(out, points[:, :3]) * torch.linspace(0, 1, 16)).mean()"
    ),
    "with another term": program(
        "loss = (F.cross_entropy(out, labels) * mask).mean() + 0.1 * out.square().mean()"
    ),
}
ITERATIONS = dict.fromkeys(WRONG, 1)
APIS = dict.fromkeys(WRONG, "torch.nn.functional.cross_entropy")
APIS["weights of samples"] = "torch.nn.functional.mse_loss"
LINES = dict.fromkeys(set(WRONG), "loss = ")
RIGHT = {
    "single losses": program(
        "loss = (F.cross_entropy(out, labels, reduction='none') * mask).sum() / mask.sum()"
    ),
    "chosen ones": program("loss = F.cross_entropy(out[mask], labels[mask])"),
    "ignored ones": program("loss = F.cross_entropy(out, labels.masked_fill(~mask, -100))"),
    "one number": program("loss = F.cross_entropy(out, labels) * mask.float().mean()"),
    "one number in a row": program("loss = (F.cross_entropy(out, labels) * torch.ones(1)).sum()"),
    "weights of tasks": program(
        "loss = (F.cross_entropy(out, labels) * torch.tensor([0.2, 0.1, 0.3, 0.4, 0.5])).sum()"
    ),
    "all of them": program("loss = (F.cross_entropy(out, labels) * torch.ones(16)).mean()"),
    "learnt": program("loss = (F.cross_entropy(out, labels) * rates).mean()"),
    "a penalty of each": program(
        "loss = F.cross_entropy(out, labels) + (out.square().mean(1) * mask).mean()"
    ),
    "only printed": program(
        "print((F.cross_entropy(out, labels) * mask).mean().item()); loss = out.square().mean()"
    ),
    "mask of the predictions": program(
        "loss = F.cross_entropy(out * mask[:, None], labels) + F.mse_loss(out * mask[:, None], out)"
    ),
    "chosen loss": program(
        "loss = torch.where(torch.tensor(True), F.cross_entropy(out, labels), 0.0)"
    ),
}
