"""Toys of `resumes-otherwise`: what it accuses, and what it does not."""

NAME = "resumes-otherwise"

TRAIN = """
import io

class Own(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01):
        super().__init__(params, dict(lr=lr))
        self.count, self.means = 0, {{}}
        self.inner = torch.optim.Adam(self.param_groups, lr=lr)
{more}
    @torch.no_grad()
    def step(self, closure=None):
{before}
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
{update}

net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer, points = Own(net.parameters()), torch.randn(32, 4)

def train():
    for iteration in range(4):
        optimizer.zero_grad()
        F.mse_loss(net(points), points.sum(1, keepdim=True)).backward()
        optimizer.step()

train()
file = io.BytesIO()
torch.save(dict(net=net.state_dict(), optimizer=optimizer.state_dict()), file)
file.seek(0)
checkpoint = torch.load(file)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
net.load_state_dict(checkpoint["net"])
optimizer = Own(net.parameters())
{load}
train()
"""
LOAD = "optimizer.load_state_dict(checkpoint['optimizer'])"


def train(update, before="pass", more="", load=LOAD):
    def indented(text, columns):
        return "\n".join(" " * columns + line for line in text.splitlines())

    parts = indented(before, 8), indented(update, 16), indented(more, 4)
    return TRAIN.format(before=parts[0], update=parts[1], more=parts[2], load=load)


INNER = "self.inner.step()"
WRONG = {
    "a count of its own": train(
        "p.sub_(group['lr'] * p.grad / self.count)", before="self.count += 1"
    ),
    "means beside the state": train(
        "mean = self.means.setdefault(id(p), torch.zeros_like(p))\n"
        "mean.mul_(0.9).add_(p.grad)\np.sub_(group['lr'] * mean)"
    ),
    "the state of the one inside": train("pass", before=INNER),
    "half of the state": train(
        "state['mean'] = 0.9 * state.get('mean', 0) + p.grad\np.sub_(group['lr'] * state['mean'])",
        more="def state_dict(self):\n"
        "    saved = super().state_dict()\n"
        "    return dict(saved, state=dict(list(saved['state'].items())[:2]))",
    ),
}
RIGHT = {
    "no state": train("p.sub_(group['lr'] * p.grad)"),
    "all in the state": train(
        "state['mean'] = 0.9 * state.get('mean', 0) + p.grad\np.sub_(group['lr'] * state['mean'])"
    ),
    "a count in the state": train(
        "state['count'] = state.get('count', 0) + 1\np.sub_(group['lr'] * p.grad / state['count'])"
    ),
    "a count in the groups": train(
        "p.sub_(group['lr'] * p.grad / group['count'])",
        before="for group in self.param_groups:\n    group['count'] = group.get('count', 0) + 1",
    ),
    "a count that changes nothing": train("p.sub_(group['lr'] * p.grad)", "self.count += 1"),
    "saves the one inside": train(
        "pass",
        before=INNER,
        more="def state_dict(self):\n"
        "    return dict(super().state_dict(), inner=self.inner.state_dict())\n\n"
        "def load_state_dict(self, saved):\n"
        "    saved = dict(saved)\n"
        "    self.inner.load_state_dict(saved.pop('inner'))\n"
        "    super().load_state_dict(saved)\n"
        "    self.inner.param_groups = self.param_groups",
    ),
    "noise": train("p.sub_(group['lr'] * (p.grad + torch.randn_like(p)))"),
    "never loaded": train(
        "p.sub_(group['lr'] * p.grad / self.count)", before="self.count += 1", load=""
    ),
}  # fmt: skip
