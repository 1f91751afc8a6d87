"""Of `carried-state`: what it accuses, and what it does not."""

NAME = "carried-state"
PROGRAM = """
from torch.utils.data import DataLoader, TensorDataset


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head, self.state = {body}, nn.Linear(16, 2), None

    def forward(self, x, state=None):
        output, state = self.body(x, state)
        return self.head(output[:, -1]), state


def cut(state):
    return tuple(part.detach() for part in state) if isinstance(state, tuple) else state.detach()


x, y = torch.randn(64, 5, 4), torch.randint(2, (64,))
loader = DataLoader(TensorDataset(x, y), {size}, {order})
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
state = None
for epoch in range(2):
    for x, y in {batches}:
        {step}
        loss = F.cross_entropy(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
LSTM, GRU = (f"nn.{name}(4, 16, batch_first=True)" for name in ("LSTM", "GRU"))
CARRY = ("output, state = model(x, state)", "state = cut(state)")


def program(*lines, body=LSTM, size=8, order="shuffle=True", batches="loader"):
    step = "\n        ".join(lines)
    return PROGRAM.format(step=step, body=body, size=size, order=order, batches=batches)


CELL = (
    "state = torch.zeros(8, 16) if state is None else state",
    "for t in range(5):",
    "    state = model.body(x[:, t], state)",
    "output = model.head(state)",
)
WRONG = {
    "an LSTM": program(*CARRY),
    "a GRU": program(*CARRY, body=GRU),
    "a copy": program(*CARRY, "state = state.clone()", body=GRU),
    "an attribute": program(
        "output, model.state = model(x, model.state)", "model.state = cut(model.state)", body=GRU
    ),
    "a cell": program(*CELL, "state = state.detach()", body="nn.GRUCell(4, 16)"),
    "weighted samples": program(
        *CARRY,
        order="sampler=torch.utils.data.WeightedRandomSampler(torch.ones(64), 64)",
    ),
}
APIS = {"an LSTM": "torch.nn.LSTM", "a GRU": "torch.nn.GRU", "a cell": "torch.nn.GRUCell"}
ITERATIONS = dict.fromkeys(WRONG, 4)
LINES = {"an LSTM": "output, state = self.body(", "a cell": "state = model.body("}
RIGHT = {
    "a state for each batch": program("output, _ = model(x)"),
    "zeros": program("output, _ = model(x, torch.zeros(1, 8, 16))", body=GRU),
    "a cell from zeros": program("state = None", *CELL, body="nn.GRUCell(4, 16)"),
    "in order": program(*CARRY, order="shuffle=False"),
    "without a loader": program(*CARRY, batches="zip(x.split(8), y.split(8))").replace(
        "for x, y in zip(x", "for x, y in zip(x"
    ).replace("x, y = torch.randn", "table, labels = x, y = torch.randn").replace(
        "zip(x.split(8), y.split(8))", "zip(table.split(8), labels.split(8))"
    ),
    "in order, and another loader shuffles": program(*CARRY, order="shuffle=False", batches=(
        "zip(loader, DataLoader(TensorDataset(x, y), 8, shuffle=True))"
    )).replace("for x, y in zip", "for (x, y), _ in zip").replace(
        "x, y = torch.randn", "table, labels = x, y = torch.randn"
    ).replace("zip(loader, DataLoader(TensorDataset(x, y)", "zip(loader, DataLoader(TensorDataset(table, labels)"),
    "a decoder goes on": program(
        "output, state = model(x)",
        "for t in range(3):",
        "    output, state = model(x[:, t:t + 1], state)",
    ),
    "one row": program(*CARRY, size=1).replace("range(2)", "range(1)"),
    "a state of its own": program(
        "output, _ = model(x)",
        "step, state = memory(torch.ones(3, 4), state)",
        "state = cut(state)",
        "output = output + 0 * step.sum()",
    ).replace("state = None\n", "state, memory = None, nn.GRU(4, 16)\nmemory.register_parameter("
              "'unused', None)\n", 1),
    "a state for each sample": program(
        "if state is None: states = torch.zeros(64, 16)",
        "numbers = y",
        "state = states[numbers][None]",
        "output, state = model(x, state)",
        "states[numbers] = state[0].detach()",
        body=GRU,
    ).replace("randint(2, (64,))", "arange(64)").replace("F.cross_entropy(output, y)",
                                                         "F.cross_entropy(output, y % 2)"),
}  # fmt: skip
