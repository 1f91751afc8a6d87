"""Of `idle-layer`: what it accuses, and what it does not."""

NAME = "idle-layer"
PROGRAM = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 2)
        self.more = nn.ModuleList(nn.Linear(8, 8) for _ in range(2))
        {more}

    def forward(self, x):
        {forward}


model = Model()
{before}
parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
optimizer = torch.optim.SGD(parameters, lr=0.01)
for iteration in range({steps}):
    optimizer.zero_grad()
    F.mse_loss(model(torch.randn(16, 4)), torch.randn(16, 2)).backward()
    optimizer.step()
"""
ALL = "x = self.second(self.first(x).relu()).relu()"
MORE = "for layer in self.more: x = layer(x).relu()"
OUT = "return self.third(x)"


def program(*forward, steps=30, more="pass", before=""):
    text = "\n        ".join(forward)
    return PROGRAM.format(forward=text, steps=steps, more=more, before=before)


ADVISED = {
    "a layer": program("x = self.first(x).relu()", MORE, OUT),
    "a list": program(ALL, OUT),
    "a layer more": program(ALL, MORE, OUT, more="self.fourth = nn.Linear(8, 8)"),
}
ADVISED["gone at the end"] = (
    program("x = self.first(x).relu()", MORE, OUT, steps=40) + "del model, optimizer\n"
)
ADVISED |= {
    "a branch": program(
        "x = self.first(x).relu()", "x = x if x is not None else self.second(x)", MORE, OUT
    ),
}
RIGHT = {
    "all": program(ALL, MORE, OUT),
    "few steps": program("x = self.first(x).relu()", MORE, OUT, steps=15),
    "frozen": program(
        "x = self.first(x).relu()", MORE, OUT, before="model.second.requires_grad_(False)"
    ),
    "by its weights": program(
        "x = F.linear(self.first(x), self.second.weight, self.second.bias)", MORE, OUT
    ),
    "one of a list": program(ALL, "x = self.more[0](x)", OUT),
    "tied": program(
        "x = self.first(x).relu()",
        MORE,
        OUT,
        more="self.second.weight = self.more[0].weight",
        before="del model.second.bias",
    ).replace("del model.second.bias", "model.second.bias = model.more[0].bias"),
    "from time to time": program(
        "x = self.first(x).relu()",
        "x = self.second(x) if iteration == 17 else x",
        MORE,
        OUT,
    ),
}
