"""Of `silent-samples`: what it accuses, and what it does not."""

NAME = "silent-samples"
PROGRAM = """
from torch.utils.data import DataLoader, TensorDataset

x, y = torch.randn(256, 4), torch.randint(3, (256,))
loader = DataLoader(TensorDataset(x, y), 16, shuffle={shuffle}, drop_last=True)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step, (x, y) in enumerate(loader):
    optimizer.zero_grad()
    logits = model({given})
    loss = {loss}
    loss.backward()
    optimizer.step()
"""


def program(loss, given="x", shuffle=True):
    return PROGRAM.format(loss=loss, given=given, shuffle=shuffle)


ALL = "F.cross_entropy(logits, y)"
WRONG = {
    "all but the last": program("F.cross_entropy(logits[:-1], y[:-1])"),
    "masked": program("(F.cross_entropy(logits, y, reduction='none') * (torch.arange(16) > 3)).mean()"),
}  # fmt: skip
ADVISED = {"the first classes": program("F.cross_entropy(logits[:3], y[:3])")}
LINES = dict.fromkeys(WRONG, "logits = model(x)")
RIGHT = {
    "all": program(ALL),
    "some by chance": program("F.cross_entropy(logits[keep], y[keep])").replace(
        "    loss =", "    keep = torch.rand(16) > 0.5\n    loss ="
    ),
    "a margin": program("F.multi_margin_loss(logits, y, margin=0.01)"),
    "two halves": program(
        "F.cross_entropy(logits[:16], y)", "torch.cat([x, torch.randn(16, 4)])"
    ),
    "an order of its own": program("F.cross_entropy(logits[:8], y[:8])", shuffle=False),
    "in turns": program("F.cross_entropy(logits[step % 2 :: 2], y[step % 2 :: 2])"),
}  # fmt: skip
