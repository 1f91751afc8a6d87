"""Of `visible-targets`: what it accuses, and what it does not."""

NAME = "visible-targets"
PROGRAM = """
WORDS, MASK, LENGTH = 40, 40, 24


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS + 1, 16), nn.Embedding(LENGTH, 16)
        self.body = nn.GRU(16, 16, batch_first=True, bidirectional={both})
        self.head = nn.Linear(32 if {both} else 16, WORDS + 1)

    def forward(self, words):
        x = self.words(words) + self.places(torch.arange(LENGTH))
        return self.head(self.body(x)[0])


def hide(text, chosen, visible, replaced=0.1):
    draw = torch.rand(text.shape)
    words = text.where(~chosen | (draw < visible), torch.tensor(MASK))
    is_replaced = chosen & (draw >= visible) & (draw < visible + replaced)
    return words.where(~is_replaced, torch.randint(WORDS, text.shape))


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for iteration in range({steps}):
    text = torch.randint(1, WORDS, (32, LENGTH))
    {text}
    chosen = torch.rand(text.shape) < {rate}
    words = {words}
    targets = text.masked_fill(~chosen, -100)
    logits = model(words)
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
HIDE = "hide(text, chosen, {})"
HALF = HIDE.format(0.5)
FLAT = "F.cross_entropy(logits.flatten(0, 1), targets.flatten())"


def program(words=HALF, loss=FLAT, rate=0.2, text="pass", steps=6, both=True):
    return PROGRAM.format(words=words, loss=loss, rate=rate, text=text, steps=steps, both=both)


WRONG = {
    "half of them": program(),
    "classes as the second axis": program(loss="F.cross_entropy(logits.transpose(1, 2), targets)"),
    "another word to ignore": program(
        loss="F.cross_entropy(logits.flatten(0, 1), targets.flatten() "
        ".masked_fill(~chosen.flatten(), 0), ignore_index=0)"
    ),
    "those of the mask alone": program(loss="F.cross_entropy(logits[chosen], text[chosen])"),
    "by number": program(
        loss="F.cross_entropy(logits[chosen.nonzero(as_tuple=True)], text[chosen])"
    ),
    "of a flat table": program(
        loss="F.cross_entropy(logits.flatten(0, 1).index_select(0, "
        "chosen.flatten().nonzero()[:, 0]), text[chosen])"
    ),
    "log-probabilities": program(
        loss="F.nll_loss(logits.log_softmax(2)[chosen], text[chosen])"
    ),
    "another mask than that of the targets": program(
        words="hide(text, torch.rand(text.shape) < 0.5, 0) * chosen + text * ~chosen"
    ),
}  # fmt: skip
ITERATIONS = dict.fromkeys(WRONG, 3)
APIS = {
    "half of them": "torch.nn.functional.cross_entropy",
    "log-probabilities": "torch.nn.functional.nll_loss",
}
LINES = dict.fromkeys(WRONG, "loss = ")
RIGHT = {
    "a tenth": program(HIDE.format(0.1)),
    "a tenth of those chosen": program(
        HIDE.format(0.1), loss="F.cross_entropy(logits[chosen], text[chosen])"
    ),
    "none": program(HIDE.format(0)),
    "an autoencoder": program("text"),
    "one of short texts": program(
        "text", rate=2, text="text[:, 8:] = 0; chosen = text != 0", loss=FLAT
    ),
    "noise, and all are targets": program(
        "hide(text, torch.rand(text.shape) < 0.3, 0)", loss=FLAT, rate=2
    ),
    "noise in short texts": program(
        "hide(text, (torch.rand(text.shape) < 0.3) & (text != 0), 0)",
        text="text[:, 8:] = 0",
        loss="F.cross_entropy(logits.flatten(0, 1), text.flatten(), ignore_index=0)",
    ),
    "tags": program(
        HIDE.format(0.5),
        loss="F.cross_entropy(logits[chosen], (text[chosen] * 7 + 3) % WORDS)",
    ),
    "few targets": program(rate=0.05),
    "two batches": program(steps=2),
    "the next word": program(
        "text", both=False,
        loss="F.cross_entropy(logits[:, :-1].flatten(0, 1), text[:, 1:].flatten())",
    ),
    "what was replaced": program(
        loss="F.binary_cross_entropy_with_logits(logits[..., 0], (words != text).float())"
    ),
    "an unmasked text beside it": program(
        HIDE.format(0),
        loss="F.cross_entropy((logits + model.head(torch.zeros(32) * model.words(text)"
        ".mean((1, 2))[:, None, None])).flatten(0, 1), targets.flatten())",
    ),
}  # fmt: skip
