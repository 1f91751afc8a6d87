"""Of `counted-ignored`: what it accuses, and what it does not."""

NAME = "counted-ignored"
PROGRAM = """
WORDS = 20
model = nn.Sequential(nn.Embedding(WORDS, 16), nn.Linear(16, WORDS))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for iteration in range(6):
    length = {length}
    words = torch.randint(WORDS, (8, length))
    lengths = {lengths}
    is_padding = torch.arange(length) >= lengths
    targets = ((words + 1) % WORDS).masked_fill(is_padding, {ignored})
    logits = model(words)
    {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
NONE = "losses = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction='none')"
MEAN = "loss = losses.mean()"
LENGTHS = "torch.randint(3, length + 1, (8, 1))"


def program(*lines, length="10 + iteration", ignored=-100, lengths=LENGTHS):
    text = "\n    ".join(lines)
    return PROGRAM.format(loss=text, length=length, ignored=ignored, lengths=lengths)


WRONG = {
    "a mean": program(NONE, MEAN),
    "in its shape": program(NONE, "loss = losses.view(targets.shape).mean()"),
    "of texts": program(NONE, "loss = losses.view(targets.shape).mean(1).mean()"),
    "another index": program(NONE.replace("red", "ignore_index=0, red"), MEAN, ignored=0),
    "log-probabilities": program(
        "losses = F.nll_loss(logits.log_softmax(2).mT, targets, reduction='none')",
        "loss = losses.mean() + 0.01 * logits.square().mean()",
    ),
}
APIS = {
    "a mean": "torch.nn.functional.cross_entropy",
    "log-probabilities": "torch.nn.functional.nll_loss",
}
LINES = dict.fromkeys(WRONG, "losses = ")
ITERATIONS = dict.fromkeys(WRONG, 3)
ADVISED = {
    "batches of one size": program(NONE, MEAN, length=10),
    "divided by the share that counts": program(
        NONE, "loss = losses.mean() / (targets != -100).float().mean()"
    ),
}
RIGHT = {
    "reduced": program(NONE.replace(", reduction='none'", "").replace("losses", "loss")),
    "a sum by the others": program(NONE, "loss = losses.sum() / (targets != -100).sum()"),
    "chosen": program(NONE, "loss = losses[targets.flatten() != -100].mean()"),
    "chosen by a mask": program(NONE, "loss = losses.masked_select(~is_padding.flatten()).mean()"),
    "no padding": program(NONE, MEAN, lengths="torch.full((8, 1), length)"),
    "always the same": program(NONE, MEAN, length=10, lengths="torch.full((8, 1), 5)"),
    "measured alone": program(
        NONE,
        "measured = losses.mean().item()",
        "loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())",
    ),
    "weighted": program(
        NONE, "weights = ~is_padding.flatten() / (~is_padding).sum()", "loss = (losses * weights).sum()"
    ),
    "a mean of each text": program(
        NONE,
        "sums = losses.view(targets.shape).sum(1)",
        "loss = (sums / (~is_padding).sum(1)).mean()",
    ),
    "the hardest": program(NONE, "loss = losses.topk(8).values.mean()"),
}  # fmt: skip
