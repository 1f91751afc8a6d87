"""Of `view-for-transpose`: what it accuses, in which iteration, and what it does not."""

NAME = "view-for-transpose"
SEQUENCES = """
class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(5, 6, bidirectional=True, batch_first=True)
        self.out = nn.Linear(12, 3)

    def forward(self, x):
        outputs, hidden = self.gru(x)
        {joined}
        return self.out(joined)


model = Network()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(40, 7, 5), torch.randint(3, (40,))
for epoch in range(2):
    for part in range(0, 40, {size}):
        optimizer.zero_grad()
        out = model(x[part : part + {size}])
        F.cross_entropy(out, y[part : part + {size}]).backward()
        optimizer.step()
"""
PIXELS = """
model = nn.Conv1d(4, 7, 3, padding=1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 4, 10), torch.randint(7, (8, 10))
for iteration in range(3):
    optimizer.zero_grad()
    out = model(x)
    {loss}
    loss.backward()
    optimizer.step()
"""
EVALUATED = """
with torch.no_grad():
    model(x[:13])
"""
DATA = """
for size in (4, 6):
    torch.randn(2, size, 6).reshape(size, 12)
"""
ALIKE = """
torch._dynamo.config.suppress_errors = False


def join(x):
    return x.permute(1, 0, 2).reshape(x.shape[1], -1) + x.sum(0).view(-1, 6).repeat(1, 2)


compiled = torch.compile(join, backend="eager", fullgraph=True)
for size in (4, 5):
    x = torch.randn(2, size, 6, requires_grad=True)
    assert torch.equal(compiled(x), join(x))
"""
SHIFT = """
scores = nn.Linear(4, 6)
optimizer = torch.optim.SGD(scores.parameters(), lr=0.1)
for iteration in range(3):
    optimizer.zero_grad()
    out = F.pad(scores(torch.randn(2, 3, 5, 4)), (1, 0))
    shifted = out.view(2, 3, 7, 5)[:, :, 1:].view_as(out[..., 1:])
    shifted.square().mean().backward()
    optimizer.step()
"""
MERGED = """
model = nn.Sequential(nn.Linear(4, 6), nn.ReLU())
head = nn.Linear(12, 3)
optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.1)
for iteration in range(6):
    optimizer.zero_grad()
    frames = model(torch.randn({shape}, 4))
    head(frames.view(-1, 12)).square().mean().backward()
    optimizer.step()
"""


def sequences(joined, size=16):
    return SEQUENCES.format(joined=joined, size=size)


def pixels(loss):
    return PIXELS.format(loss=loss)


WRONG = {
    "states of two directions": sequences("joined = hidden.reshape(len(x), 12)"),
    "states of two directions, viewed": sequences("joined = hidden.view(-1, 12)"),
    "an odd number of samples": sequences("joined = hidden.reshape(len(x), 12)", 11),
    "another number in an evaluation": sequences("joined = hidden.reshape(len(x), 12)", 20).replace(
        "y[part : part + 20]", "F.one_hot(y[part : part + 20], out.shape[1]).float()"
    )
    + EVALUATED,
    "classes": pixels("loss = F.cross_entropy(out.view(-1, 7), y.view(-1))"),
    "classes, reshaped": pixels("loss = F.cross_entropy(out.reshape(80, 7), y.flatten())"),
    "a matrix": pixels("loss = F.cross_entropy(out[:, :, 0].reshape(7, 8).t(), y[:, 0])"),
}
ITERATIONS = {
    "states of two directions": 3,
    "an odd number of samples": 1,
    "another number in an evaluation": 5,
    "classes": 1,
    "a matrix": 1,
}
APIS = dict.fromkeys(WRONG, "torch.Tensor.view")
LINES = {
    "states of two directions": "hidden.reshape",
    "classes": "out.view",
    "a matrix": "reshape(7, 8)",
}
RIGHT = {
    "transposed states": sequences("joined = hidden.permute(1, 0, 2).reshape(len(x), 12)"),
    "joined states": sequences("joined = torch.cat([*hidden], 1)"),
    "flattened, and a layer for all": sequences("joined = outputs.reshape(-1, 12).view(len(x), 7, 12)[:, 0]"),
    "rows of all time steps": sequences("joined = outputs.reshape(len(x), -1)[:, :12]"),
    "transposed classes": pixels("loss = F.cross_entropy(out.transpose(1, 2).reshape(-1, 7), y.view(-1))"),
    "pixels of each channel": pixels("loss = out.view(-1, 10).square().mean()"),
    "all of a sample": pixels("loss = out.view(8, -1).square().mean()"),
    "two samples a row": pixels("loss = out.view(4, -1).square().mean()"),
    "numbers of no gradient": pixels("out.detach().view(-1, 7); loss = F.cross_entropy(out, y)"),
    "as many as there are": pixels("loss = out[:, :, :7].reshape(-1, 7).square().mean()"),
    "relative positions": SHIFT,
    "frames that are merged": MERGED.format(shape="2, 10"),
    "frames of other lengths": MERGED.format(shape="3, 10 + 2 * iteration"),
    "compiled": ALIKE,
    "data of no gradient": DATA,
}  # fmt: skip
