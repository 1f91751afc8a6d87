"""Of `scaled-clip`: what it accuses, and what it does not."""

NAME = "scaled-clip"
PROGRAM = """
from torch.cuda.amp import GradScaler

class Scaler(GradScaler):
    # On a CPU the scaler of this torch is switched off.
    def __init__(self, enabled=True):
        super().__init__(enabled=False)
        self.on, self.done = enabled, False

    def is_enabled(self):
        return self.on

    def get_scale(self):
        return 65536.0

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randint(2, (16,))
scaler = Scaler({enabled})
for iteration in range(4):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    scaler.scale(loss)
    (loss * 65536).backward()
    {before}
    nn.utils.clip_grad_norm_(model.parameters(), {limit})
    scaler.step(optimizer)
"""


def program(before="pass", limit=1.0, enabled=True):
    return PROGRAM.format(before=before, limit=limit, enabled=enabled)


WRONG = {
    "still scaled": program(),
    "still scaled, then to no effect": program(
        "nn.utils.clip_grad_norm_(model.parameters(), 1.0)", limit=1e9
    ),
}
RIGHT = {
    "unscaled": program("scaler.unscale_(optimizer)"),
    "scaled limit": program(limit=65536.0),
    "no effect": program(limit=1e9),
    "switched off": program(enabled=False),
}
