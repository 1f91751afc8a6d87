"""Of `never-steps`: what it accuses, and what it does not."""

NAME = "never-steps"
PROGRAM = """
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randint(2, (16,))
{before}
for iteration in range({rounds}):
    {clear}
    loss = F.cross_entropy(model(x), y)
    {backward}
    {step}
{after}
"""
GAME = """
G, D = nn.Linear(4, 4), nn.Linear(4, 1)
g, d = torch.optim.Adam(G.parameters(), 1e-3), torch.optim.Adam(D.parameters(), 1e-3)
bce, x = F.binary_cross_entropy_with_logits, torch.randn(16, 4)
one, zero = torch.ones(16, 1), torch.zeros(16, 1)
for iteration in range(30):
    fake = G(torch.randn(16, 4))
    d.zero_grad()
    (bce(D(x), one) + bce(D(fake.detach()), zero)).backward()
    {step}
    g.zero_grad()
    bce(D(fake), one).backward()
    g.step()
"""


def program(
    before="",
    rounds=30,
    clear="optimizer.zero_grad()",
    backward="loss.backward()",
    step="pass",
    after="",
):
    return PROGRAM.format(
        before=before, rounds=rounds, clear=clear, backward=backward, step=step, after=after
    )


WRONG = {
    "no step": program(),
    "cleared by the model": program(clear="model.zero_grad()"),
    "a schedule in its place": program(
        "schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10)", step="schedule.step()"
    ),
    "one of two players": GAME.format(step="pass"),
    "another's step": program(
        "other = nn.Linear(4, 2); wrong = torch.optim.SGD(other.parameters(), 0.1)",
        backward="(loss + F.cross_entropy(other(x), y)).backward()",
        step="wrong.step(); wrong.zero_grad()",
    ),
}
RIGHT = {
    "steps": program(step="optimizer.step()"),
    "two players": GAME.format(step="d.step()"),
    "steps late": program(after="optimizer.step()"),
    "few rounds": program(rounds=20),
    "accumulates": program(
        clear="pass", rounds=40, step="(iteration + 1) % 40 or optimizer.step()"
    ),
    "by hand": program(step="[p.data.sub_(0.1 * p.grad) for p in model.parameters()]"),
    "another optimizer's step": program(
        "other = torch.optim.SGD([*model.parameters()], lr=0.01)", step="other.step()"
    ),
    "a loss whose weight is still 0": program(backward="(0 * loss).backward()"),
    "an attack": program(
        "model.eval(); x.requires_grad_()", step="x.grad.sign()", clear="model.zero_grad()"
    ),
    "saliency, of what was loaded": program(
        "model.load_state_dict(model.state_dict()); model.eval()"
    ),
    "no optimizer's gradients": program(
        backward="torch.autograd.grad(loss, [*model.parameters()])"
    ),
    "overflows": program(backward="(loss * float('inf')).backward()"),
    "overflows to one side": program(backward="(model(x).sum() * float('inf')).backward()"),
    "trained by another one before": program(
        "first = torch.optim.SGD(model.parameters(), lr=0.1)\nfor _ in range(3):\n    "
        "first.zero_grad()\n    F.cross_entropy(model(x), y).backward()\n    first.step()"
    ),
    "Fisher information, then training": program(
        step="fisher = [p.grad.square() for p in model.parameters()]",
        after="F.cross_entropy(model(x), y).backward()\noptimizer.step()",
    ),
    "weights from elsewhere": program(
        step="model.load_state_dict({n: 0.9 * v for n, v in model.state_dict().items()})"
    ),
    "a closure": program(
        "optimizer = torch.optim.LBFGS(model.parameters())\ndef closure():\n    "
        "optimizer.zero_grad()\n    loss = F.cross_entropy(model(x), y)\n    loss.backward()\n    "
        "return loss",
        rounds=3,
        clear="optimizer.step(closure)",
        backward="pass",
    ),
    "a wrapper that steps for it": program(
        "class Wrapper(torch.optim.Optimizer):\n    def __init__(self, base):\n        self.base = "
        "base\n        super().__init__([*model.parameters()], {})\n    def step(self):\n        "
        "self.base.step()\nwrapper = Wrapper(optimizer)",
        clear="wrapper.zero_grad(); optimizer.zero_grad()",
        step="wrapper.step()",
    ),
}
