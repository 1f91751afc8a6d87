"""Of `learnt-padding`: what it accuses, and what it does not."""

NAME = "learnt-padding"
PROGRAM = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.cell = nn.Embedding(12, 8), nn.GRU(8, 16, batch_first=True)
        self.out = nn.Linear(16, 12)

    def forward(self, tokens):
        return self.out(self.cell(self.words(tokens))[0])


def draw(batch=8, length=9):
    tokens = torch.randint({lowest}, 12, (batch, length))
    lengths = torch.randint(3, length + 1, (batch, 1))
    lengths[0], lengths[1] = length, 4
    {end}
    return torch.where(torch.arange(length) < lengths, tokens, {padding})


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for iteration in range(12):
    text = draw()
    inputs, targets = text[:, :-1], text[:, 1:]
    logits = model(inputs)
    {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


END = "tokens = tokens.scatter(1, lengths - 1, 1)"


def program(loss, lowest="2", padding="0", end=END):
    return PROGRAM.format(loss=loss, lowest=lowest, padding=padding, end=end)


PLAIN = "loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())"
WRONG = {
    "flat": program(PLAIN),
    "by classes": program("loss = F.cross_entropy(logits.transpose(1, 2), targets)"),
    "logarithms": program(
        "loss = F.nll_loss(logits.log_softmax(-1).flatten(0, 1), targets.flatten())"
    ),
    "smoothed": program(PLAIN.replace("ten())", "ten(), label_smoothing=0.1)")),
    "another ignore_index": program(PLAIN.replace("ten())", "ten(), ignore_index=1)")),
}
APIS = dict.fromkeys(WRONG, "torch.nn.functional.cross_entropy")
APIS["logarithms"] = "torch.nn.functional.nll_loss"
LINES = dict.fromkeys(WRONG, "loss = ")
# The first word of the filling may be the end.
ADVISED = {
    "no other end": program(PLAIN, end="pass"),
    "another end in each batch": program(PLAIN, end=END[:-2] + "int(torch.randint(1, 12, ())))"),
}
RIGHT = {
    "ignored": program(PLAIN.replace("ten())", "ten(), ignore_index=0)")),
    "labels of their own": program(
        "loss = F.cross_entropy(logits.flatten(0, 1), "
        "targets.masked_fill(targets == 0, -100).flatten())"
    ),
    "masked": program(
        "single = F.cross_entropy(logits.transpose(1, 2), targets, reduction='none'); "
        "loss = single[targets != 0].mean()"
    ),
    "weighted": program(
        "loss = F.cross_entropy(logits.transpose(1, 2), targets, "
        "weight=(torch.arange(12) > 0).float())"
    ),
    "a word like others": program(PLAIN, lowest="0"),
    "chosen": program("loss = F.cross_entropy(logits[targets != 0], targets[targets != 0])"),
}
