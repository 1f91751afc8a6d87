"""Of `cut-off`: what it accuses, in which iteration, and what it does not."""

NAME = "cut-off"
PROGRAM = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(4, 8), nn.Linear(8, 3)
        self.scale, self.codes = nn.Parameter(torch.ones(())), nn.Embedding(8, 8)
        self.aside = nn.Linear(8, 8)

    def forward(self, x):
        h = self.encoder(x)
        {inside}
        return self.decoder(h)


model = Model()
{before}
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(32, 4), torch.randint(3, (32,))
for iteration in range(15):
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    {after}
    optimizer.step()
"""


def program(inside, before="pass", after="pass"):
    return PROGRAM.format(inside=inside, before=before, after=after)


LOADED = "model.encoder.load_state_dict(nn.Linear(4, 8).state_dict())"
SIGNS = "h = h + ((h > 0).float() * 2 - 1 - h).detach()"
WRONG = {
    "rounded": program("h = torch.round(h * 3)"),
    "signs": program("h = torch.sign(h)"),
    "compared": program("h = (h > 0).float()"),
    "the nearest code": program("h = self.codes(h.argmax(1))"),
    "detached": program("h = torch.tanh(h).detach()"),
    "data": program("h = torch.tanh(h.data)"),
    "an array": program("h = torch.from_numpy(h.detach().numpy() * 2)"),
    "a number": program("h = h * self.scale.item()"),
    "data of a parameter": program("h = h * self.scale.data"),
    "made anew": program("h = torch.tensor(h.tolist())"),
    "with decay": program("h = torch.round(h * 3)").replace("lr=0.01", "lr=0.01, weight_decay=0.1"),
}
ITERATIONS = dict.fromkeys(WRONG, 11)
APIS = {
    "rounded": "torch.Tensor.round",
    "detached": "torch.Tensor.detach",
    "the nearest code": "torch.Tensor.argmax",
    "a number": "torch.Tensor.item",
}
PARAMETERS = {"rounded": "encoder.weight", "a number": "scale"}
LINES = {"rounded": "torch.round(", "a number": "self.scale.item()", "detached": ".detach()"}
RIGHT = {
    "plain": program("h = torch.tanh(h)"),
    "straight through": program(SIGNS),
    "not used": program("self.codes(torch.arange(3)); self.aside(h)"),
    "a constant factor of 0": program("h = h + 0 * self.aside(h)"),
    "without gradients": program(
        "with torch.no_grad():\n            h = torch.tanh(self.encoder(x))"
    ),
    "frozen": program("h = torch.round(h)", "model.encoder.requires_grad_(False)"),
    "loaded": program("h = torch.tanh(h).detach()", LOADED),
    "in the beginning": program(
        "self.calls = getattr(self, 'calls', 0) + 1; h = torch.sign(h) if self.calls < 9 else h"
    ),
    "codes that follow an average": program(
        "h = h + self.codes.weight.detach()[h.argmax(1)]",
        after="model.codes.weight.data.mul_(0.9)",
    ),
    "an output that no loss uses": program("h = torch.tanh(h)")
    .replace("return self.decoder(h)", "return self.decoder(h), self.aside(h)")
    .replace("model(x), y", "model(x)[0], y"),
    "another output": program("self.aside(h); h = torch.tanh(h)"),
}
