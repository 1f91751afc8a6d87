"""Of `unlearnt-end`: what it accuses, and what it does not."""

NAME = "unlearnt-end"
PROGRAM = """
END, WORDS, LENGTH = 0, 20, 12


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.cell = nn.Embedding(WORDS, 16), nn.GRU(16, 16, batch_first=True)
        self.head = nn.Linear(16, WORDS)

    def forward(self, ids, mask=None):
        return self.head(self.cell(self.words(ids))[0])


def draw():
    ids, mask = torch.randint(1, WORDS, (8, LENGTH)), torch.ones(8, LENGTH, dtype=torch.long)
    lengths = torch.randint(5, LENGTH, (8,)).tolist()
    lengths[:2] = LENGTH, 6
    for text, length in enumerate(lengths):
        ids[text, length - 1 :], mask[text, length:] = END, 0
    {prepare}
    return ids, mask


model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(6):
    ids, mask = draw()
    logits = model(ids, mask)
    labels = {labels}
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BY_NUMBER = "ids.masked_fill(ids == END, -100)"
SHIFTED = "F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())"
WHOLE = "F.cross_entropy(logits.flatten(0, 1), F.pad(labels[:, 1:], (0, 1), value=-100).flatten())"


def program(labels, loss=SHIFTED, prepare="pass"):
    return PROGRAM.format(labels=labels, loss=loss, prepare=prepare)


LEFT = (
    "ids = torch.stack([row.roll(LENGTH - int(shown.sum())) for row, shown in zip(ids, mask)]); "
    "mask = torch.stack([shown.flip(0) for shown in mask])"
)
WRONG = {
    "one of two words before each end": program(
        BY_NUMBER,
        prepare="own = torch.randint(2, 4, (8, 1)); own[:2, 0] = torch.tensor([2, 3]); "
        "ids = ids.where((ids == END) | (ids > 3), 5).scatter(1, mask.sum(1, keepdim=True) - 2, own)",
    ),
    "two words before all ends": program(
        BY_NUMBER,
        prepare="own = torch.randint(2, 4, (8, 1)); own[:2, 0] = torch.tensor([2, 3]); "
        "ids = ids.scatter(1, mask.sum(1, keepdim=True) - 2, own); ids[:4, 1] = 2; ids[4:, 1] = 3; ids[:, 2] = torch.arange(4, 12)",
    ),
    "labels without the padding's number": program(BY_NUMBER),
    "shifted beforehand": program(BY_NUMBER, WHOLE),
    "ignored by its number": program(
        "ids",
        SHIFTED.replace("labels[:, 1:].flatten()", "labels[:, 1:].flatten(), ignore_index=END"),
    ),
    "padding on the left": program(BY_NUMBER, prepare=LEFT),
    "only the answer": program(BY_NUMBER + ".masked_fill(torch.arange(LENGTH) < 2, -100)"),
    "one by one": program(
        BY_NUMBER,
        "F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), "
        "reduction='none').sum() / 50",
    ),
}
LINES = dict.fromkeys(WRONG, "loss = ")
APIS = dict.fromkeys(WRONG, "torch.nn.functional.cross_entropy")
RIGHT = {
    "labels by the mask": program("ids.masked_fill(mask == 0, -100)"),
    "padding of its own": program("ids.masked_fill(mask == 0, -100)", prepare="ids[mask == 0] = 1"),
    "padding of its own, left out by its number": program(
        "ids.masked_fill(ids == WORDS - 1, -100)",
        prepare="ids[(ids == WORDS - 1) & (mask == 1)] = 3; ids[mask == 0] = WORDS - 1",
    ),
    "no end": program(BY_NUMBER, prepare="ids[(ids == END) & (mask == 1)] = 5"),
    "an end in half of the texts": program(
        BY_NUMBER,
        prepare="half = torch.arange(8)[:, None] < 4; ids[(ids == END) & (mask == 1) & half] = 5",
    ),
    "a mask that hides the end": program(BY_NUMBER, prepare="mask = (ids != END).long()"),
    "the end is another target": program(
        "torch.where(mask == 1, ids, -100).masked_fill(ids == END, -100) + 0 * mask",
        "F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()) + F.cross_entropy("
        "logits[torch.arange(8), mask.sum(1) - 2], ids[torch.arange(8), mask.sum(1) - 1])",
    ),
    "answers that go on": program(
        "ids.masked_fill(mask == 0, -100).masked_fill(torch.arange(LENGTH) > 4, -100)"
    ),
    "a turn has an end of its own": program(
        BY_NUMBER, prepare="ids.scatter_(1, mask.sum(1, keepdim=True) - 2, 2)"
    ),
    "answers of one token": program(
        BY_NUMBER
        + ".masked_fill(torch.arange(LENGTH) != mask.sum(1, keepdim=True) - 2, -100)"
    ),
    "no padding": program(BY_NUMBER, prepare="mask = torch.ones_like(mask)"),
    "a stop head": program(
        BY_NUMBER,
        SHIFTED + " + F.binary_cross_entropy_with_logits(logits[..., END], "
        "(torch.arange(LENGTH) == mask.sum(1, keepdim=True) - 1).float())",
    ),
    "an autoencoder": program(BY_NUMBER, "F.cross_entropy(logits.flatten(0, 1), labels.flatten())")
    .replace("nn.GRU(16, 16", "nn.GRU(16, 8, bidirectional=True"),
    "turns of two speakers": program(
        BY_NUMBER,
        prepare="own = torch.randint(2, 4, (8, 1)); own[:2, 0] = torch.tensor([2, 3]); "
        "ids = ids.where((ids == END) | (ids > 3), 5).scatter(1, mask.sum(1, keepdim=True) - 2, own); "
        "ids[:, 1], ids[:, 2] = own[:, 0], 1",
    ),
}  # fmt: skip
