"""Of `packed-texts`: what it accuses, and what it does not."""

NAME = "packed-texts"
PROGRAM = """
class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(20, 16), nn.Embedding(12, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout={dropout}, batch_first=True)
        self.head = nn.Linear(16, 20)

    def forward(self, ids, positions):
        hidden = self.words(ids) + self.places(positions)
        hidden_places = torch.ones(12, 12, dtype=torch.bool).triu(1).expand(len(ids), 12, 12)
        texts = (positions == 0).cumsum(1)
        others = texts[:, :, None] != texts[:, None, :]
        mask = {mask}
        return self.head(self.layer(hidden, src_mask=mask.repeat_interleave(2, 0)))

positions = {positions}
model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(4):
    text = torch.randint(1, 20, (8, 13))
    logits = model(text[:, :-1], positions)
    loss = F.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CAUSAL, APART = "hidden_places", "hidden_places | others"
# Three texts in a row, in one half of the rows of other lengths than in the other.
PACKED = (
    "torch.stack(4 * [torch.cat([torch.arange(n) for n in lengths]) "
    "for lengths in ((5, 4, 3), (3, 3, 6))])"
)
ALIKE = "torch.cat([torch.arange(4), torch.arange(4), torch.arange(4)]).repeat(8, 1)"


def program(mask, positions=PACKED, dropout=0.0):
    return PROGRAM.format(mask=mask, positions=positions, dropout=dropout)


WRONG = {
    "causal alone": program(CAUSAL),
    "with dropout": program(CAUSAL, dropout=0.1),
    "one row": program(CAUSAL, ALIKE.replace("8", "1")).replace("(8, 13)", "(1, 13)"),
}
ITERATIONS = dict.fromkeys(WRONG, 1)
LINES = dict.fromkeys(WRONG, "model(text[:, :-1], positions)")
RIGHT = {
    "each by itself": program(APART),
    "the columns of a grid": program(CAUSAL, ALIKE),
    "pairs of sentences": program(
        CAUSAL,
        "torch.stack(4 * [torch.cat([torch.arange(n), torch.arange(12 - n)]) for n in (5, 7)])",
    ),
    "one text": program(CAUSAL, "torch.arange(12).repeat(8, 1)"),
    "padding of zeros": program(CAUSAL, "F.pad(torch.arange(9), (0, 3)).repeat(8, 1)"),
    "words of something else": program(CAUSAL, "torch.randint(12, (8, 12))"),
}  # fmt: skip
