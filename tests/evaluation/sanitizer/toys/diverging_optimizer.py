"""Toys of `diverging-optimizer`: what it accuses, and what it does not."""

NAME = "diverging-optimizer"

TRAIN = """
class Own(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, **options):
        super().__init__(params, dict(lr=lr, **options))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["count"] = 0
                    state["mean"], state["square"] = torch.zeros_like(p), torch.zeros_like(p)
                state["count"] += 1
                count, mean, square = state["count"], state["mean"], state["square"]
{update}

net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = {optimizer}
points = torch.randn(32, 4)
for iteration in range(4):
    optimizer.zero_grad()
    F.mse_loss(net(points), points.sum(1, keepdim=True)).backward()
    optimizer.step()
"""


def train(update, optimizer="Own(net.parameters())"):
    lines = "\n".join(" " * 16 + line for line in update.strip().splitlines())
    return TRAIN.format(update=lines, optimizer=optimizer)


MOMENTS = """
mean.lerp_(p.grad, 0.1)
square.lerp_(p.grad ** 2, 0.001)
"""
# An optimizer that holds a function of torch is watched as others are, and so are all after it.
HOLDER = """
class Holder(torch.optim.SGD):
    def __init__(self, params):
        super().__init__(params, lr=0.1)
        self.choose, self.seed = torch.argmax, torch.manual_seed

    def step(self, closure=None):
        super().step()

first = nn.Linear(2, 2)
holder = Holder(first.parameters())
first(torch.randn(3, 2)).sum().backward()
holder.step()
"""
WRONG = {
    "a bias corrected by the complement": train(
        MOMENTS + "p.add_(mean / 0.9 ** count / ((square / 0.999 ** count).sqrt() + 1e-8), "
        "alpha=-group['lr'])"
    ),
    "uphill": train("p.add_(p.grad, alpha=group['lr'] * 50)", "Own(net.parameters(), lr=0.1)"),
    "behind one that holds functions of torch": HOLDER
    + train("p.add_(p.grad, alpha=group['lr'] * 50)", "Own(net.parameters(), lr=0.1)"),
    "a momentum above one": train("mean.mul_(1.2).add_(p.grad)\np.add_(mean, alpha=-group['lr'])"),
    "divided by a mean that vanishes": train(
        "square.mul_(0.5)\np.sub_(group['lr'] * p.grad / (square.sqrt() + 1e-8) * 1e3)"
    ),
    "the count multiplies the step": train(
        "mean.lerp_(p.grad, 0.1)\np.add_(mean.sign(), alpha=-group['lr'] * count ** 2)"
    ),
}
RIGHT = {
    "gradient descent": train("p.add_(p.grad, alpha=-group['lr'])"),
    "momentum": train("mean.mul_(0.9).add_(p.grad)\np.add_(mean, alpha=-group['lr'])"),
    "adam": train(
        MOMENTS + "p.sub_(group['lr'] * mean / (1 - 0.9 ** count) "
        "/ ((square / (1 - 0.999 ** count)).sqrt() + 1e-8))"
    ),
    "adam without a correction": train(
        MOMENTS + "p.sub_(group['lr'] * mean / (square.sqrt() + 1e-8))"
    ),
    "signs": train("p.add_(p.grad.sign(), alpha=-group['lr'])"),
    "trust": train(
        "p.sub_(group['lr'] * p.grad / (p.grad.norm() + 1e-8) * p.norm().clamp(min=0.1))"
    ),
    "decay": train("p.mul_(1 - group['lr'] * 0.1).add_(p.grad, alpha=-group['lr'])"),
    "to maximize": train("p.add_(p.grad, alpha=group['lr'] * 50)",
                         "Own(net.parameters(), lr=0.1, maximize=True)"),
    "of torch, with a large rate": train("pass", "torch.optim.SGD(net.parameters(), lr=0.3)"),
    "a large rate": train("p.add_(p.grad, alpha=-group['lr'])", "Own(net.parameters(), lr=0.5)"),
    "noise": train(
        "p.add_(p.grad + 0.01 * torch.randn_like(p), alpha=-group['lr'])"
    ),
}  # fmt: skip
APIS = {"uphill": "__main__.Own.step"}
