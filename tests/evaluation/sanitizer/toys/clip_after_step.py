"""Of `clip-after-step`: what it accuses, and what it does not."""

NAME = "clip-after-step"
PROGRAM = """
model, second = nn.Linear(4, 2), nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
other = torch.optim.SGD(second.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randint(2, (16,))

def clip(module=model, limit=0.1):
    nn.utils.clip_grad_norm_(module.parameters(), limit)

for iteration in range(5):
    optimizer.zero_grad()
    other.zero_grad()
    F.cross_entropy(model(x), y).backward()
    F.cross_entropy(second(x), y).backward()
    {step}
"""

BY_HAND = """
model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for iteration in range(5):
    loss = model(torch.randn(8, 4)).square().mean()
    for parameter, gradient in zip(model.parameters(), torch.autograd.grad(loss, list(model.parameters()))):
        parameter.grad = gradient
        {after_gradient}
    optimizer.step()
    {after}
"""


def by_hand(after_gradient="pass", after="pass"):
    return BY_HAND.format(after_gradient=after_gradient, after=after)


def program(step):
    return PROGRAM.format(step=step)


WRONG = {
    "after": program("optimizer.step(); clip()"),
    "after, by value": program(
        "optimizer.step(); nn.utils.clip_grad_value_(model.parameters(), 0.01)"
    ),
    "after both": program("optimizer.step(); other.step(); clip(); clip(second)"),
    "after, zeros": program("optimizer.step(); clip(); optimizer.zero_grad(set_to_none=False)"),
    "by hand, after": by_hand(after="nn.utils.clip_grad_norm_(model.parameters(), 0.1)"),
}
RIGHT = {
    "before": program("clip(); optimizer.step()"),
    "in turns": program("clip(); optimizer.step(); clip(second); other.step()"),
    "one after the other": program(
        "clip(); optimizer.step(); [nn.utils.clip_grad_norm_(each, 0.1) for each in "
        "second.parameters()]; other.step()"
    ),
    "by hand": by_hand(after_gradient="nn.utils.clip_grad_norm_(parameter, 0.1)"),
    "for a further step": program("optimizer.step(); clip(); optimizer.step()"),
    "norm alone": program("optimizer.step(); clip(limit=float('inf'))"),
    "now and then": program("iteration % 2 or clip(); optimizer.step(); iteration % 2 and clip()"),
}
