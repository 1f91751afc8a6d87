"""Of `repeated-layer`: what it accuses, in which iteration, and what it does not."""

NAME = "repeated-layer"
PROGRAM = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = {layers}
        self.norm, self.head = nn.LayerNorm(8), nn.Linear(8, 3)

    def forward(self, x):
        {call}
        return self.head(x)


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for iteration in range(4):
    x, y = torch.randn(16, 8), torch.randint(3, (16,))
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
"""
LOOP = "for layer in self.layers: x = torch.tanh(layer(x))"
SAME = "nn.ModuleList([nn.Linear(8, 8)] * 3)"


def program(layers=SAME, call=LOOP):
    return PROGRAM.format(layers=layers, call=call)


WRONG = {
    "a list": program(),
    "residual": program(call="for layer in self.layers: x = self.norm(x + torch.tanh(layer(x)))"),
    "in a row": program("nn.Sequential(*[nn.Linear(8, 8)] * 3)", "x = self.layers(x)"),
    "blocks": program("nn.ModuleList([nn.Sequential(nn.Linear(8, 8), nn.Tanh())] * 2)"),
}
ITERATIONS = dict.fromkeys(WRONG, 1)
APIS = {"a list": "torch.nn.ModuleList", "in a row": "torch.nn.Sequential"}
LINES = {"a list": "model(x)"}
RIGHT = {
    "several": program("nn.ModuleList(nn.Linear(8, 8) for _ in range(3))"),
    "one in a loop": program("nn.Linear(8, 8)", "for _ in range(3): x = torch.tanh(self.layers(x))"),
    "side by side": program(call="x = sum(torch.tanh(layer(x)) for layer in self.layers)"),
    "activations": program(
        "nn.Sequential(*[part for _ in range(3) for part in (nn.Linear(8, 8), self.act)])",
        "x = self.layers(x)",
    ).replace("self.layers =", "self.act = nn.Tanh(); self.layers ="),
}  # fmt: skip
