"""Of `undone-freezing`: what it accuses, and what it does not."""

NAME = "undone-freezing"
PROGRAM = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 8))
        self.head = nn.Linear(8, 2)
        {freeze}

    def forward(self, x):
        return self.head(self.body(x))
    {method}


model = Model()
{setup}
optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.01)
for epoch in range({epochs}):
    {begin}
    for _ in range(6):
        optimizer.zero_grad()
        F.mse_loss(model(torch.randn(16, 4)), torch.randn(16, 2)).backward()
        optimizer.step()
    {end}
"""
FREEZE = "self.body.requires_grad_(False); self.body.eval()"
METHOD = """
    def train(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self
"""


def program(begin, freeze=FREEZE, end="pass", setup="", method="", epochs=3):
    return PROGRAM.format(
        begin=begin, freeze=freeze, end=end, setup=setup, method=method, epochs=epochs
    )


WRONG = {
    "each epoch": program("model.train()"),
    "once": program("pass", setup="model.train()"),
    "a part of it": program(
        "model.train()", "self.body.requires_grad_(False); self.body[1].eval()"
    ),
}
APIS = dict.fromkeys(WRONG, "torch.nn.Module.train")
RIGHT = {
    "kept": program("model.train(); model.body.eval()"),
    "by a method": program("model.train()", method=METHOD),
    "not frozen": program("model.train()", "self.body.eval()"),
    "thawed": program("model.train(); model.body.requires_grad_(epoch < 0 or True)").replace(
        "if p.requires_grad]", "]"
    ),
    "put back itself": program("model.train(); model.body.train()"),
    "without statistics": program(
        "model.train()",
        "self.body[1] = nn.LayerNorm(8); " + FREEZE,
    ),
    "few steps": program("model.train()", epochs=1),
}
