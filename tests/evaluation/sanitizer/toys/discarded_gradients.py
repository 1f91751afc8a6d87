"""Of `discarded-gradients`: what it accuses, and what it does not."""

NAME = "discarded-gradients"
PROGRAM = """
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{before}
for step in range(8):
    {first}
    for part in range({parts}):
        x, y = torch.randn(16, 4), torch.randint(2, (16,))
        {every}
        F.cross_entropy(model(x), y).backward()
        {after}
    {last}
    optimizer.step()
"""
CLEAR = "optimizer.zero_grad()"


def program(every="pass", first="pass", after="pass", last="pass", before="pass", parts=3):
    return PROGRAM.format(
        every=every, first=first, after=after, last=last, before=before, parts=parts
    )


WRONG = {
    "in front of each pass": program(CLEAR),
    "by the module": program("model.zero_grad()"),
    "kept as zeros": program("optimizer.zero_grad(set_to_none=False)"),
}
ITERATIONS = dict.fromkeys(WRONG, 5)
LINES = {"in front of each pass": "optimizer.zero_grad()", "by the module": "model.zero_grad()"}
APIS = dict.fromkeys(WRONG, "torch.optim.Optimizer.zero_grad")
SAVE = "kept.append([p.grad.clone() for p in model.parameters()])"
MEAN = "for p, *grads in zip(model.parameters(), *kept): p.grad = sum(grads) / 3\n    kept.clear()"
MOVE = "[p.add_(0.01 * p.grad) for p in model.parameters()]"
ATTACK = (
    "d = torch.zeros_like(x).requires_grad_(); F.cross_entropy(model(x + d), y).backward(); "
    "x = x + 0.1 * d.grad.sign(); model.zero_grad()"
)
RIGHT = {
    "accumulated": program(first=CLEAR),
    "one pass": program(CLEAR, parts=1),
    "gradients by hand": program(CLEAR, after=SAVE, last=MEAN, before="kept = []"),
    "a point beside": program(
        first=CLEAR,
        parts=2,
        after=f"with torch.no_grad(): {MOVE}\n        if part == 0: optimizer.zero_grad()",
    ),
    "the gradient of an input": program(CLEAR).replace(
        "torch.randn(16, 4)", "torch.randn(16, 4, requires_grad=True)"
    ),
    "another optimizer": program(
        CLEAR, before="other = torch.optim.SGD(model[0].parameters(), lr=0.1)"
    ),
    "an adversarial point": program(first=CLEAR, parts=1, every=ATTACK),
    "the norm of each loss": program(
        parts=1,
        every="h = model(x); losses = F.cross_entropy(h, y), h.square().mean()\n        "
        "for loss in losses: optimizer.zero_grad(); loss.backward(retain_graph=True)\n"
        "        optimizer.zero_grad(); sum(losses).backward(); continue",
    ),
    "written into the gradients": program(
        CLEAR,
        after=SAVE,
        last=MEAN.replace("p.grad = sum(grads) / 3", "p.grad.copy_(sum(grads) / 3)"),
        before="kept = []",
    ),
    "once in a while": program(first=CLEAR, after="if step == 3: optimizer.zero_grad()"),
}
