"""Of `clipped-parts`: what it accuses, and what it does not."""

NAME = "clipped-parts"
PROGRAM = """
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    optimizer.zero_grad()
    for part in range({parts}):
        x, y = torch.randn(16, 4), torch.randint(2, (16,))
        F.cross_entropy(model(x), y).backward()
        {every}
    {last}
    optimizer.step()
"""


def program(every="pass", last="pass", parts=3):
    return PROGRAM.format(every=every, last=last, parts=parts)


CLIP = "nn.utils.clip_grad_norm_(model.parameters(), {})"
WRONG = {
    "each pass": program(CLIP.format(0.1)),
    "each value": program("nn.utils.clip_grad_value_(model.parameters(), 0.01)"),
}
ITERATIONS = dict.fromkeys(WRONG, 3)
LINES = dict.fromkeys(WRONG, "nn.utils.clip_grad")
RIGHT = {
    "the whole": program(last=CLIP.format(0.1)),
    "one pass": program(CLIP.format(0.1), parts=1),
    "kept as zeros": program(CLIP.format(0.1), parts=1).replace(
        "zero_grad()", "zero_grad(set_to_none=False)"
    ),
    "a norm is measured": program(CLIP.format("float('inf')")),
    "a step for each": program(CLIP.format(0.1) + "; optimizer.step(); optimizer.zero_grad()")
    .replace("    optimizer.step()\n", ""),
    "an auxiliary loss first": program(
        CLIP.format(0.1), "model(x).square().mean().backward()", 1
    ),
    "another loss for others": program(
        CLIP.format(0.1), "other(x).square().mean().backward()", 1
    ).replace("optimizer = ", "other = nn.Linear(4, 2)\noptimizer = "),
}  # fmt: skip
