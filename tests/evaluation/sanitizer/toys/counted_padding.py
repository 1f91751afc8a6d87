"""Of `counted-padding`: what it accuses, in which iteration, and what it does not."""

NAME = "counted-padding"
PROGRAM = """
WORDS = 20
CLASSES = {classes}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, 16, padding_idx={padding})
        self.body, self.head = nn.GRU(16, 16, batch_first=True), nn.Linear(16, CLASSES)

    def forward(self, tokens):
        return self.head(self.body(self.embedding(tokens))[0])


def make_texts(size=8, length=13):
    words = torch.randint(1, WORDS, (size, length))
    lengths = torch.randint(4, length, (size, 1))
    return words.where(torch.arange(length) < lengths, torch.tensor(0))


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for iteration in range(8):
    text = make_texts()
    inputs, targets = text[:, :-1], text[:, 1:]
    {targets}
    logits = model(inputs)
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LOSS = "F.cross_entropy(logits.reshape(-1, CLASSES), targets.reshape(-1){})"
MASKED = LOSS.format(", reduction='none'") + " @ (targets != 0).float().flatten()"


PLAIN = LOSS.format("")


def program(loss=PLAIN, padding=0, classes="WORDS", targets="pass"):
    return PROGRAM.format(loss=loss, padding=padding, classes=classes, targets=targets)


WRONG = {
    "cross entropy": program(),
    "another index": program(LOSS.format(", ignore_index=1")),
    "classes as the second axis": program("F.cross_entropy(logits.transpose(1, 2), targets)"),
    "log-probabilities": program("F.nll_loss(logits.log_softmax(2).transpose(1, 2), targets)"),
    "places first": program(
        "F.cross_entropy(logits.transpose(0, 1).reshape(-1, WORDS), targets.T.reshape(-1))"
    ),
}
ITERATIONS = dict.fromkeys(WRONG, 3)
APIS = {
    "cross entropy": "torch.nn.functional.cross_entropy",
    "log-probabilities": "torch.nn.functional.nll_loss",
}
LINES = dict.fromkeys(WRONG, "loss = ")
# The word fills up texts there, whatever the embedding says.
RIGHT = {
    "ignored": program(LOSS.format(", ignore_index=0")),
    "the default": program(targets="targets = targets.where(targets != 0, torch.tensor(-100))"),
    "masked": program(MASKED),
    "no padding declared": program(padding=None),
    "tags": program(classes=7, targets="targets = targets % 7"),
    "weights": program(LOSS.format(", weight=(torch.arange(WORDS) > 0).float()")),
    "alone": program(targets="targets = torch.randint(1, WORDS, targets.shape); targets[:, -1] = 0"),
    "measured": program("logits.square().mean() + 0 * " + PLAIN.replace("logits", "logits.detach()")),
}  # fmt: skip
