"""Learning rates of two schedules, with a learning rate that is a float, and with one that is a tensor."""

import warnings

import torch
from torch.optim.lr_scheduler import ConstantLR, CosineAnnealingLR, ExponentialLR, LinearLR, SequentialLR


def documentation(optimizer):
    schedulers = [ConstantLR(optimizer, factor=0.1, total_iters=20), ExponentialLR(optimizer, gamma=0.9)]
    return SequentialLR(optimizer, schedulers, milestones=[20])


def linear(optimizer):
    schedulers = [LinearLR(optimizer, start_factor=0.2, total_iters=20), CosineAnnealingLR(optimizer, T_max=80)]
    return SequentialLR(optimizer, schedulers, milestones=[20])


def show(make_scheduler, rate):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=rate)
    scheduler = make_scheduler(optimizer)
    group = optimizer.param_groups[0]
    rates = []
    for _ in range(40):
        rates.append(float(group["lr"]))
        optimizer.step()
        scheduler.step()
    shown = "  ".join(f"{rates[epoch]:.6f}" for epoch in (0, 10, 19, 20, 21, 30))
    kind = "tensor" if isinstance(rate, torch.Tensor) else "float"
    print(f"{make_scheduler.__name__:13}  {kind:6}  {shown}  one object: {group['lr'] is group['initial_lr']}")


warnings.simplefilter("ignore")
print(f"torch {torch.__version__}, rates in epochs 0, 10, 19, 20, 21, 30")
for schedule in (documentation, linear):
    show(schedule, 0.05)
    show(schedule, torch.tensor(0.05))
