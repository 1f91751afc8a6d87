"""Of `swapped-decay`: what it accuses, and what it does not."""

NAME = "swapped-decay"
PROGRAM = """
import copy
from torch.optim.swa_utils import AveragedModel

model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
average = {average}
optimizer = torch.optim.{optimizer}
for iteration in range(1, 81):
    x = torch.randn(16, 4)
    optimizer.zero_grad()
    F.mse_loss(model(x), x[:, :1]).backward()
    optimizer.step()
    with torch.no_grad():
        {update}
"""
SGD, ADAM = "SGD(model.parameters(), lr=0.1)", "Adam(model.parameters(), lr=1e-3)"
LOOP = "for slow, fast in zip(average.parameters(), model.parameters()):\n            {}"


def program(update, average="copy.deepcopy(model)", optimizer=SGD):
    return PROGRAM.format(update=update, average=average, optimizer=optimizer)


def by_loop(line, optimizer=SGD):
    return program(LOOP.format(line), optimizer=optimizer)


SWAPPED = "AveragedModel(model, avg_fn=lambda slow, fast, n: 0.01 * slow + 0.99 * fast)"
MEAN = "AveragedModel(model)"
WRONG = {
    "by a loop": by_loop("slow.data = 0.01 * slow.data + 0.99 * fast.data"),
    "in place": by_loop("slow.mul_(0.005).add_(fast, alpha=0.995)", ADAM),
    "by lerp": by_loop("slow.lerp_(fast, 0.999)"),
    "by torch": program("average.update_parameters(model)", SWAPPED),
}
APIS = dict.fromkeys(WRONG, "torch.optim.swa_utils.AveragedModel")
RIGHT = {
    "by a loop": by_loop("slow.data = 0.99 * slow.data + 0.01 * fast.data"),
    "by torch": program("average.update_parameters(model)", MEAN),
    "a copy": by_loop("slow.copy_(fast)"),
    "a copy at some steps": by_loop("iteration % 5 or slow.copy_(fast)"),
    "slower and slower": by_loop("slow.lerp_(fast, 1 - min(0.99, (1 + iteration) / (10 + iteration)))"),
    "fast": by_loop("slow.lerp_(fast, 0.5)"),
    "fixed": program("pass"),
    "noise": by_loop("slow.copy_(fast + 1e-2 * torch.randn_like(fast))"),
}  # fmt: skip
