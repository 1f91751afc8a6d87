"""Toys of `transparent-checkpoint`: what it accuses, in which iteration, and what it does not."""

NAME = "transparent-checkpoint"

PROGRAM = """
from torch.utils.checkpoint import checkpoint

class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.norm, self.calls = nn.Linear(8, 8), nn.BatchNorm1d(8), 0

    def forward(self, x):
        x = self.layer(x)
        {part}
        return x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.into, self.part, self.head = nn.Linear(4, 8), Part(), nn.Linear(8, 2)

    def forward(self, x):
        x = self.into(x)
        x = {call}
        return self.head(x)

model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
points, labels = torch.randn(64, 4), torch.randint(2, (64,))
for iteration in range(3):
    optimizer.zero_grad()
    F.cross_entropy(model(points), labels).backward()
    optimizer.step()
"""
CALL = "checkpoint(self.part, x, use_reentrant=False)"


def program(part, call=CALL):
    return PROGRAM.format(part=part, call=call)


WRONG = {
    # In torch 2.1 to 2.13 what is saved for its backward pass is not what was drawn.
    "noise of a leaky unit": program("x = F.rrelu(x, training=True)"),
    "something else the second time": program("self.calls += 1; x = (x * self.calls).tanh()"),
    "not a number": program(
        "self.calls += 1; x = (x * (1.0 if self.calls % 2 else float('nan'))).tanh()"
    ),
}
RIGHT = {
    "plain": program("x = self.norm(x).tanh()"),
    "dropout": program("x = F.dropout(x, 0.5, self.training)"),
    "no checkpoint": program("self.calls += 1; x = (x * self.calls).tanh()", "self.part(x)"),
    "reentrant": program("x = x.tanh()", "checkpoint(self.part, x, use_reentrant=True)"),
    "random numbers given up": program(
        "x = F.dropout(x, 0.5)",
        "checkpoint(self.part, x, use_reentrant=False, preserve_rng_state=False)",
    ),
}

ITERATIONS = dict.fromkeys(WRONG, 1)
# Another invariant accuses these, and rightly.
OTHERS = {"random numbers given up": {"backward-draws"}}
