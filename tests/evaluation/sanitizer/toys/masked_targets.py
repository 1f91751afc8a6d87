"""Of `masked-targets`: what it accuses, and what it does not."""

NAME = "masked-targets"
PROGRAM = """
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(20, 16), nn.Embedding(12, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.head = nn.Linear(16, 20)

    def forward(self, ids, mask):
        hidden = self.words(ids) + self.places.weight[: ids.shape[1]]
        causal = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).triu(1)
        padding = {padding}
        return self.head(self.layer(hidden, src_mask=causal, src_key_padding_mask=padding))

def draw():
    ids, mask = torch.randint(2, 20, (8, 12)), torch.ones(8, 12, dtype=torch.long)
    for text, length in enumerate(torch.randint(4, 10, (8,)).tolist()):
        ids[text, length:], mask[text, length:] = 1, 0
    return ids, mask

model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(6):
    ids, mask = draw()
    {prepare}
    logits = model(ids, {mask})
    {labels}
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
SHIFTED = "F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())"
WHOLE = "F.cross_entropy(logits.transpose(1, 2), labels)"


def program(labels, loss=SHIFTED, prepare="pass", mask="mask", padding="mask == 0"):
    return PROGRAM.format(labels=labels, loss=loss, prepare=prepare, mask=mask, padding=padding)


ALL = "labels = ids.clone()"
BOOLEAN = {"mask": "mask == 0", "padding": "mask"}
WRONG = {
    "labels are the tokens": program(ALL),
    "shifted beforehand": program("labels = F.pad(ids[:, 1:], (0, 1), value=1)", WHOLE),
    "a mask of booleans": program(ALL, **BOOLEAN),
    "nll": program(ALL, SHIFTED.replace("cross_entropy(logits", "nll_loss(logits.log_softmax(-1)")),
}
LINES = dict.fromkeys(WRONG, "loss = ")
# The padding says where the text ends.
ADVISED = {"an autoencoder": program(ALL, WHOLE).replace("triu(1)", "triu(12)")}
RIGHT = {
    "labels without padding": program("labels = ids.masked_fill(mask == 0, -100)"),
    "padding on the left": program(
        "labels = ids.masked_fill(mask == 0, -100)",
        prepare="ids, mask = ids.flip(1), mask.flip(1)",
        padding="None",
    ),
    "the index of the padding": program(ALL, SHIFTED[:-1] + ", ignore_index=1)"),
    "the end is learnt": program(
        "labels = ids.masked_fill(mask == 0, -100); "
        "labels[torch.arange(8), mask.sum(1)] = 1"
    ),
    "multiplied by the mask": program(
        ALL,
        "(F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), "
        "reduction='none') * mask[:, 1:].flatten()).sum() / mask[:, 1:].sum()",
    ),
    "labels of another kind": program("labels = torch.randint(20, (8, 12))", WHOLE),
    "a mask of anything": program(ALL, prepare="mask = torch.randint(2, (8, 12)); mask[:, 0] = 1"),
    "the ends of texts are marked": program(
        ALL, prepare="ids, mask = torch.randint(2, 20, (8, 12)), mask", padding="None"
    ),
    "the first token is of another type": program(
        ALL, prepare="ids[:, 0] = 0; mask = (ids != 0).long()", padding="None"
    ),
    "words that are left out": program(
        "labels = torch.where(mask == 1, ids, torch.randint(2, 20, (8, 12)))",
        prepare="mask = (torch.rand(8, 12) > 0.2).long(); mask[:, 0] = 1; ids = torch.where("
        "mask == 1, torch.randint(2, 20, (8, 12)), 1)",
    ),
    "no padding": program(ALL, prepare="ids, mask = torch.randint(2, 20, (8, 12)), mask * 0 + 1"),
}  # fmt: skip
