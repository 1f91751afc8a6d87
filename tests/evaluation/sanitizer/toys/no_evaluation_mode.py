"""Of `no-evaluation-mode`: what it accuses, and what it does not."""

NAME = "no-evaluation-mode"
PROGRAM = """
from torch.utils.data import DataLoader, Subset, TensorDataset

model = nn.Sequential(nn.Linear(4, 8), {layer}, nn.ReLU(), nn.Linear(8, 2))
teacher = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data, held_out = (TensorDataset(torch.randn(64, 4), torch.randint(2, (64,))) for _ in range(2))
loader, validation = DataLoader({data}, 16, shuffle=True), DataLoader({held_out}, 16)
for epoch in range(3):
    for x, y in loader:
        {inside}
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    {before}
    with torch.no_grad():
        for x, y in {tested}:
            {called}(x)
    model.train()
"""


def program(
    layer="nn.Dropout()",
    before="",
    inside="",
    tested="validation",
    called="model",
    data="data",
    held_out="held_out",
):
    return PROGRAM.format(
        layer=layer,
        before=before,
        inside=inside,
        tested=tested,
        called=called,
        data=data,
        held_out=held_out,
    )


ONCE = (
    program(tested="()")
    + """
with torch.no_grad():
    for x, y in validation:
        model(x)
"""
)
PIX2PIX = """
from torch.utils.data import DataLoader, TensorDataset

G, D = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.Linear(8, 4)), nn.Linear(8, 1)
g, d = torch.optim.Adam(G.parameters(), 1e-3), torch.optim.Adam(D.parameters(), 1e-3)
train, test = (DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 4)), 16) for _ in range(2))
for epoch in range(3):
    for x, y in train:
        fake = G(x)
        d.zero_grad()
        (D(torch.cat([x, fake.detach()], 1)).sigmoid() - D(torch.cat([x, y], 1)).sigmoid()).mean().backward()
        d.step()
        g.zero_grad()
        ((fake - y).abs().mean() - D(torch.cat([x, fake], 1)).sigmoid().mean()).backward()
        g.step()
    with torch.no_grad():
        for x, y in test:
            G(x)
"""
WRONG = {
    "dropout": program(),
    "batch normalisation": program("nn.BatchNorm1d(8)"),
    "only at the end": ONCE,
    "another part of one dataset": program(
        data="Subset(data, range(16))", held_out="Subset(data, range(16, 64))"
    ),
}
RIGHT = {
    "eval": program(before="model.eval()"),
    "dropout for uncertainty": program(before="model.eval(); model[1].train()"),
    "nothing that has a mode": program("nn.LayerNorm(8)"),
    "no dropout": program("nn.Dropout(0.0)"),
    "training data": program(tested="loader"),
    "in the step": program(inside="torch.no_grad()(model)(x)", tested="()"),
    "a stream": program(
        before="""
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(data)
    model.eval()
    [model(x) for x, _ in DataLoader(Stream(), 16)]"""
    ),
    "another": program(called="teacher"),
    "statistics of all training data": program("nn.BatchNorm1d(8)", held_out="data"),
    "statistics of some of them": program("nn.BatchNorm1d(8)", held_out="Subset(data, range(48))"),
    "data in a list": program(data="(rows := [*data])", held_out="rows"),
    "dropout for noise": PIX2PIX,
    "learnt from later": program(
        tested="()",
        before="""
    for x, y in validation:
        with torch.no_grad():
            targets = sum(model(x) for _ in range(3)) / 3
        optimizer.zero_grad()
        F.mse_loss(model(x), targets).backward()
        optimizer.step()""",
    ),
}
