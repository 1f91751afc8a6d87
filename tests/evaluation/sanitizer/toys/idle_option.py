"""Toys of `idle-option`: what it accuses, and what it does not."""

NAME = "idle-option"

TRAIN = """
class Own(torch.optim.Optimizer):
    def __init__(self, params, **options):
        super().__init__(params, options)
        self.rate = options["lr"]

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if "mean" not in state:
                    state["mean"] = torch.zeros_like(p)
                mean = state["mean"]
{update}

net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = {optimizer}
{schedule}
points = torch.randn(32, 4)
for iteration in range(6):
    optimizer.zero_grad()
    F.mse_loss(net(points), points.sum(1, keepdim=True)).backward()
    optimizer.step()
    {after}
"""
STEPLR = "scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)"
RATE = "Own(net.parameters(), lr=0.01)"
DECAY = "Own(net.parameters(), lr=0.01, weight_decay=0.1)"
MOMENTUM = "Own(net.parameters(), lr=0.01, momentum=0.9)"


def train(update, optimizer, schedule="", after="pass"):
    lines = "\n".join(" " * 16 + line for line in update.splitlines())
    return TRAIN.format(update=lines, optimizer=optimizer, schedule=schedule, after=after)


WRONG = {
    "the rate of the beginning": train(
        "p.add_(p.grad, alpha=-self.rate)", RATE, STEPLR, "scheduler.step()"
    ),
    "the rate of the defaults": train(
        "p.sub_(self.defaults['lr'] * p.grad.sign())", RATE, STEPLR, "scheduler.step()"
    ),
    "a rate that is written by hand, and never read": train(
        "p.add_(p.grad, alpha=-self.rate)",
        RATE,
        after="optimizer.param_groups[0]['lr'] *= 0.5",
    ),
    "a decay that nobody reads": train("p.add_(p.grad, alpha=-group['lr'])", DECAY),
    "a decay of another name": train(
        "p.mul_(1 - group.get('decay', 0)).add_(p.grad, alpha=-group['lr'])", DECAY
    ),
    "a decay that is thrown away": train(
        "decayed = p.grad + group['weight_decay'] * p\np.add_(p.grad, alpha=-group['lr'])", DECAY
    ),
    "a momentum that is begun anew in each step": train(
        "mean = torch.zeros_like(p)\n"
        "mean.mul_(group['momentum']).add_(p.grad)\np.add_(mean, alpha=-group['lr'])",
        MOMENTUM,
    ),
}
KEPT = (
    "self.groups = getattr(self, 'groups', self.param_groups)\n"
    "p.add_(p.grad, alpha=-self.groups[0]['lr'])"
)
LOAD = "scheduler.step(); iteration != 2 or optimizer.load_state_dict(optimizer.state_dict())"
WRONG["groups that a loading has replaced"] = train(KEPT, RATE, STEPLR, LOAD)
RIGHT = {
    "groups that nothing replaces": train(KEPT, RATE, STEPLR, "scheduler.step()"),
    "a loading": train("p.add_(p.grad, alpha=-group['lr'])", RATE, STEPLR, LOAD),
    "a schedule": train("p.add_(p.grad, alpha=-group['lr'])", RATE, STEPLR, "scheduler.step()"),
    "a rate of its own, and no schedule": train("p.add_(p.grad, alpha=-self.rate)", RATE),
    "a decay": train(
        "p.mul_(1 - group['lr'] * group['weight_decay']).add_(p.grad, alpha=-group['lr'])", DECAY
    ),
    "a decay in the gradients": train(
        "p.sub_(group['lr'] * (p.grad + group['weight_decay'] * p))", DECAY
    ),
    "a momentum": train(
        "mean.mul_(group['momentum']).add_(p.grad)\np.add_(mean, alpha=-group['lr'])", MOMENTUM
    ),
    "no decay": train(
        "p.add_(p.grad, alpha=-group['lr'])",
        "Own(net.parameters(), lr=0.01, weight_decay=0.0)",
    ),
    "no decay for some": train(
        "p.add_(p.grad, alpha=-group['lr'])",
        "Own([dict(params=[p], weight_decay=float(i)) for i, p in enumerate(net.parameters())], "
        "lr=0.01)",
    ),
    "noise": train(
        "p.sub_(group['lr'] * (p.grad + torch.randn_like(p)) * (1 - 1e-3 * group['weight_decay']))",
        DECAY,
    ),
    "of torch": train("pass", "torch.optim.SGD(net.parameters(), 0.1, 0.9, weight_decay=1e-20)"),
}
