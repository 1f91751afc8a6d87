"""Of `mixed-samples`: what it accuses, and what it does not."""

NAME = "mixed-samples"
PROGRAM = """
from torch.utils.data import DataLoader, TensorDataset

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = {rnn}, nn.Linear(6, 3)
        self.norm = {norm}

    def forward(self, x):
        x, _ = self.rnn(x)
        return {output}

model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
data = TensorDataset(torch.randn(64, 5, 7), torch.randint(3, (64, 5)))
for epoch in range(2):
    model.train()
    for x, y in DataLoader(data, batch_size=16, shuffle={shuffle}):
        optimizer.zero_grad()
        F.cross_entropy(model(x).flatten(0, -2), y.flatten()[: model(x)[..., 0].numel()]).backward()
        optimizer.step()
    model.{mode}()
    with torch.no_grad():
        for x, y in DataLoader(data, batch_size=16):
            model(x)
"""


def program(
    rnn="nn.LSTM(7, 6, batch_first=True)",
    norm="nn.Identity()",
    output="self.head(x)",
    shuffle=True,
    mode="eval",
):
    return PROGRAM.format(rnn=rnn, norm=norm, output=output, shuffle=shuffle, mode=mode)


LABELLED = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.rnn, self.head = nn.Embedding(20, 7), {rnn}, nn.Linear(6, 3)

    def forward(self, x):
        x, (hidden, _) = self.rnn(self.embedding(x))
        return self.head({output})

model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
texts, labels = torch.randint(20, (64, 5)), torch.randint(3, (64,))
for iteration in range(8):
    optimizer.zero_grad()
    size = {size}
    choice = torch.randperm(64)[:size]
    F.cross_entropy(model(texts[choice]), labels[choice]).backward()
    optimizer.step()
"""
ROWS = "nn.LSTM(7, 6, batch_first=True)"


def labelled(rnn=ROWS, output="x[:, -1]", size="16"):
    return LABELLED.format(rnn=rnn, output=output, size=size)


WRONG = {
    "labelled": labelled("nn.LSTM(7, 6)"),
    "labelled, a softmax over the batch": labelled(output="(40 * x[:, -1]).softmax(0)"),
    "labelled, a view of two directions": labelled(
        "nn.LSTM(7, 3, batch_first=True, bidirectional=True)", "hidden.view(-1, 6)"
    ),
    "time is not first": program(rnn="nn.LSTM(7, 6)"),
    "centred by the batch": program(output="self.head(x - x.mean(0))"),
    "view in place of a transposition": program(
        output="self.head(x.transpose(0, 1).reshape(x.shape))"
    ),
}
RIGHT = {
    "plain": program(),
    "one sequence in its order": program(rnn="nn.LSTM(7, 6)", shuffle=False),
    "batch normalisation": program(norm="nn.BatchNorm1d(5)", output="self.head(self.norm(x))"),
    "norms of batches on purpose": program(
        norm="nn.BatchNorm1d(5, track_running_stats=False)", output="self.head(self.norm(x))"
    ),
    "all with all": program(output="(x[:, 0] @ x[:, 0].T) if not self.training else self.head(x)"),
    "never in evaluation mode": program(rnn="nn.LSTM(7, 6)", mode="train"),
    "labelled": labelled(),
    "labelled, two directions": labelled(
        "nn.LSTM(7, 3, batch_first=True, bidirectional=True)", "torch.cat([*hidden], 1)"
    ),
    "labelled, of any number": labelled("nn.LSTM(7, 6)", size="16 + iteration"),
    "labelled, twice the same number": labelled("nn.LSTM(7, 6)", size="16 + iteration // 2"),
    "by chance": program(output="self.head(x + torch.randn_like(x))"),
}
