"""Of `stands-still`: what it accuses, and what it does not."""

NAME = "stands-still"
PROGRAM = """
WORDS = 30


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.head = {cell}, nn.Linear(16, 1)
        self.embedding, self.first = nn.Embedding(WORDS, 6), nn.Linear(6, 6)
        self.queries = nn.Parameter(torch.randn(7, 8, 6))
        self.start = nn.Parameter(torch.randn(1, 16))

    def forward(self, x):
        outputs = []
        {body}
        return outputs


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for iteration in range({passes}):
    x = {data}
    outputs = model(x)
    loss = sum(model.head(output).square().mean() for output in outputs)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
GRU = "nn.GRUCell(6, 16)"
LSTM = "nn.LSTMCell(6, 16)"
VALUES = "torch.randn(8, 7, 6)"
TOKENS = "torch.randint(WORDS, (8, 7))"
EMPTY = "state = torch.zeros(8, 16)"


def lines(*texts):
    return "\n        ".join(texts)


def loop(start, *texts, over="t in range(7)"):
    """The body of a forward pass: a start, and a loop of these lines."""
    return lines(start, f"for {over}:", *(f"    {text}" for text in texts))


def program(body, cell=GRU, data=VALUES, passes=6):
    return PROGRAM.format(body=body, cell=cell, data=data, passes=passes)


APPEND = "outputs.append(output)"
STEP = "output = self.cell(x[:, t], state)"
CARRIED = ("state = self.cell(x[:, t], state)", "outputs.append(state)")

WRONG = {
    "a forgotten state": program(loop(EMPTY, STEP, APPEND)),
    "an LSTM": program(
        loop(
            "state = torch.zeros(8, 16), torch.zeros(8, 16)",
            "output, memory = self.cell(x[:, t], state)",
            APPEND,
        ),
        cell=LSTM,
    ),
    "single steps of a layer": program(
        loop(
            "state = torch.zeros(1, 8, 16)",
            "output, new_state = self.cell(x[:, t:t + 1], state)",
            "outputs.append(output[:, 0])",
        ),
        cell="nn.GRU(6, 16, batch_first=True)",
    ),
    "a learnt start": program(
        loop(
            "state = self.start.expand(8, -1)",
            "output = self.cell(self.first(x[:, t]), state)",
            APPEND,
        )
    ),
    "words": program(
        loop(EMPTY, "output = self.cell(self.embedding(x[:, t]), state)", APPEND), data=TOKENS
    ),
    "embedded before": program(
        loop(
            lines("x = self.embedding(x)", EMPTY),
            STEP,
            APPEND,
        ),
        data=TOKENS,
    ),
    "the first step again": program(
        loop(
            "",
            "output = self.cell(x[:, 0].clone(), torch.zeros(8, 16))",
            "outputs.append(output * (t + 1))",
        ),
        cell="nn.RNNCell(6, 16)",
    ),
    "a cell that is called by the program": program("return x").replace(
        "    outputs = model(x)",
        "    state = torch.zeros(8, 16)\n"
        "    outputs = [model.cell(step, state) for step in x.unbind(1)]",
    ),
}
APIS = {
    "a forgotten state": "torch.nn.GRUCell",
    "an LSTM": "torch.nn.LSTMCell",
    "the first step again": "torch.nn.RNNCell",
}
ITERATIONS = dict.fromkeys(WRONG, 3)
LINES = {"a forgotten state": "output = self.cell(", "words": "output = self.cell("}
RIGHT = {
    "handed on": program(loop(EMPTY, *CARRIED)),
    "an LSTM": program(
        loop(
            "state = torch.zeros(8, 16), torch.zeros(8, 16)",
            "state = self.cell(x[:, t], state)",
            "outputs.append(state[0])",
        ),
        cell=LSTM,
    ),
    "a whole sequence": program(
        "outputs.append(self.cell(x, torch.zeros(1, 8, 16))[0])",
        cell="nn.GRU(6, 16, batch_first=True)",
    ),
    "learnt queries": program(
        loop(
            EMPTY,
            "output = self.cell(self.queries[t] + 0 * x[:, t], state)",
            APPEND,
        )
    ),
    "queries by number": program(
        loop(
            lines(
                "table = self.embedding(torch.arange(7))",
                "state = x.mean((1, 2))[:1].expand(1, 16)",
            ),
            "output = self.cell(table[t:t + 1], state)",
            APPEND,
        )
    ),
    "all actions": program(
        loop(
            lines(
                "actions = torch.eye(6)[:, None].expand(6, 8, 6)",
                "state = x.mean((1, 2))[:, None].expand(8, 16)",
            ),
            "output = self.cell(actions[t], state)",
            APPEND,
            over="t in range(6)",
        )
    ),
    "agents": program(
        loop(
            "states = torch.zeros(7, 8, 16)",
            "output = self.cell(x[:, t], states[t])",
            APPEND,
        )
    ),
    "samples one by one": program(
        loop(
            "",
            "state = torch.zeros(1, 16)",
            "for t in range(7):",
            "    state = self.cell(x[sample, t][None], state)",
            "outputs.append(state)",
            over="sample in range(8)",
        )
    ),
    "candidates, and on": program(
        loop(
            EMPTY,
            "scores = [self.cell(x[:, k], state) for k in range(5)]",
            "outputs.extend(scores)",
            "state = self.cell(x[:, t], state)",
        )
    ),
    "three steps": program(loop(EMPTY, STEP, APPEND, over="t in range(3)")),
    "two passes": program(loop(EMPTY, STEP, APPEND), passes=2),
    "no state": program(
        loop("", "output = self.cell(x[:, t])", APPEND),
    ),
    "of several sources": program(
        loop(
            EMPTY,
            "source = torch.randn(8, 6)",
            "output = self.cell(source, state)",
            APPEND,
        )
    ),
    "without gradients": program(
        loop(
            lines(EMPTY, "outputs.append(self.start * x.mean())"),
            "with torch.no_grad():",
            "    self.cell(x[:, t], state)",
        )
    ),
    "scripted": program("outputs.append(self.cell(x[:, 0], torch.zeros(8, 16)))").replace(
        "model = Model()", "model = Model()\nmodel.cell = torch.jit.script(model.cell)"
    ),
    "a scripted layer": program(
        "outputs.append(self.cell(x)[0])",
        cell="torch.jit.script(nn.Sequential(nn.GRU(6, 16, batch_first=True)))",
    ),
}
