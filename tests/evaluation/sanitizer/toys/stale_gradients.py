"""Toys of `stale-gradients`: what it accuses, in which iteration, and what it does not."""

NAME = "stale-gradients"

TRAIN = """
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.{optimizer}(model.parameters(), lr=0.01)
points, labels = torch.randn(64, 2), torch.randint(2, (64,))
for iteration in range({iterations}):
    {clear}
    loss = F.cross_entropy(model(points), labels)
    loss.backward()
    {step}
"""


def train(clear, step="optimizer.step()", optimizer="Adam", iterations=5):
    return TRAIN.format(clear=clear, step=step, optimizer=optimizer, iterations=iterations)


WRONG = {
    "never cleared": train("pass"),
    "cleared too late": train(
        "pass", "optimizer.step(); old = [p.grad for p in model.parameters()]"
    ),
    "half of it cleared": train("model[0].zero_grad()"),
    "every other one": train("optimizer.zero_grad() if iteration > 1 else None"),
    "clipped": train("pass", "nn.utils.clip_grad_norm_(model.parameters(), 0.1); optimizer.step()"),
    "clipped by value": train(
        "pass", "nn.utils.clip_grad_value_(model.parameters(), 0.001); optimizer.step()"
    ),
    "averaged": train("pass", "[p.grad.div_(4) for p in model.parameters()]; optimizer.step()"),
}
RIGHT = {
    "plain": train("optimizer.zero_grad()"),
    "by the module": train("model.zero_grad()"),
    "zeros": train("optimizer.zero_grad(set_to_none=False)"),
    "by hand": train("[p.grad.zero_() for p in model.parameters() if p.grad is not None]"),
    "past autograd": train("[p.grad.data.zero_() for p in model.parameters() if p.grad is not None]", iterations=20),
    "momentum past autograd": train("[p.grad.data.mul_(0.5) for p in model.parameters() if p.grad is not None]",
                                    iterations=20),
    "zeros, clipped": train("optimizer.zero_grad(set_to_none=False)",
                            "nn.utils.clip_grad_norm_(model.parameters(), 0.1); "
                            "optimizer.step()", iterations=20),
    "momentum in the gradient": train("[p.grad.mul_(0.5) for p in model.parameters() if p.grad is not None]"),
    "accumulation": train("if iteration % 2 == 0: optimizer.zero_grad()", "if iteration % 2: optimizer.step()"),
    "two steps by the same "
    "gradients": train("optimizer.zero_grad()", "optimizer.step(); optimizer.step()"),
    "another's turn": train("optimizer.zero_grad()", "optimizer.step(); F.cross_entropy(model(points), "
                            "1 - labels).backward()"),
    "closure": train("optimizer.zero_grad()", """
    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(points), labels)
        loss.backward()
        return loss
    optimizer.step(closure)""", "LBFGS"),
}  # fmt: skip


LATE = train("optimizer.zero_grad() if iteration < 10 else None", iterations=20)

PARAMETERS = {name: "2.weight" if "half" in name else "0.weight" for name in WRONG}
# What begins late is seen one iteration later. In iteration 11 nothing is cleared for the first
# time; numbers to compare with are kept from then on.
ITERATIONS = dict.fromkeys(WRONG, 2) | {"late": 12}
WRONG |= {"late": LATE}
