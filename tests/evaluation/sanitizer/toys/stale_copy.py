"""Toys of `stale-copy`: what it accuses, and what it does not."""

NAME = "stale-copy"

TRAIN = """
import copy, io


def make():
    return nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))


class Average(nn.Module):
    def __init__(self, net, decay=0.99):
        super().__init__()
        self.net, self.decay = copy.deepcopy(net).requires_grad_(False), decay

    @torch.no_grad()
    def update(self, net):
        for own, new in zip(self.net.parameters(), net.parameters()):
            own.lerp_(new, 1 - self.decay)


points = torch.randn(32, 4)


def train(net, optimizer, steps=8, other=None, after=lambda: None):
    for iteration in range(steps):
        optimizer.zero_grad()
        loss = F.mse_loss(net(points), points.sum(1, keepdim=True))
        if other is not None:
            with torch.no_grad():
                target = other(points)
            loss = loss + 0.1 * F.mse_loss(net(points), target)
        loss.backward()
        optimizer.step()
        after()


net = make()
train(net, torch.optim.Adam(net.parameters(), lr=0.01))
file = io.BytesIO()
torch.save({{"net": net.state_dict()}}, file)
file.seek(0)

net = make()
{before}
state = torch.load(file)
net.load_state_dict(state["net"])
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
{after}
"""
USE = "train(net, optimizer, other=teacher)"


def resume(before, after=USE):
    return TRAIN.format(before=before, after=after)


WRONG = {
    "a teacher": resume("teacher = copy.deepcopy(net).requires_grad_(False)"),
    "by load_state_dict": resume(
        "teacher = make().requires_grad_(False); teacher.load_state_dict(net.state_dict())"
    ),
    "inside of another module": resume(
        "average = Average(net)", "train(net, optimizer, other=average.net)"
    ),
    "evaluated after the training": resume(
        "teacher = copy.deepcopy(net).requires_grad_(False)",
        "train(net, optimizer)\nwith torch.no_grad():\n"
        "    for rows in points.split(4): teacher.eval()(rows)",
    ),
}
RIGHT = {
    "a copy of what was loaded": resume(
        "", "teacher = copy.deepcopy(net).requires_grad_(False)\n" + USE
    ),
    "loads it, too": resume(
        "teacher = copy.deepcopy(net).requires_grad_(False)",
        "teacher.load_state_dict(state['net'])\n" + USE,
    ),
    "is copied again": resume(
        "teacher = copy.deepcopy(net).requires_grad_(False)",
        "teacher.load_state_dict(net.state_dict())\n" + USE,
    ),
    "follows": resume(
        "average = Average(net, 0.5)",
        "train(net, optimizer, other=average.net, after=lambda: average.update(net))",
    ),
    "another network": resume("teacher = make().requires_grad_(False)"),
    "never used": resume("teacher = copy.deepcopy(net)", "train(net, optimizer)"),
    "nothing new is loaded": resume(
        "state = torch.load(file); net.load_state_dict(state['net'])\n"
        "teacher = copy.deepcopy(net).requires_grad_(False); file.seek(0)"
    ),
}
