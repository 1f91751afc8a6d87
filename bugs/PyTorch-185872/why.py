"""The learning rates of the first epochs, by a schedule whose warm-up has no epochs. One line for each way to build it.

They are to be those of the second line: the cosine by itself, from 0.05 on.
"""

import warnings

import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR


def sequence(optimizer):
    cosine = CosineAnnealingLR(optimizer, T_max=20)
    warmup = LinearLR(optimizer, start_factor=0.01, total_iters=0)
    return SequentialLR(optimizer, [warmup, cosine], milestones=[0])


def alone(optimizer):
    return CosineAnnealingLR(optimizer, T_max=20)


def rates(build):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.05)
    scheduler, found = build(optimizer), []
    for _ in range(5):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return "  ".join(f"{rate:.6f}" for rate in found)


def main():
    warnings.simplefilter("ignore")
    print(f"torch {torch.__version__}")
    print(f"milestones=[0]  {rates(sequence)}")
    print(f"cosine alone    {rates(alone)}")


if __name__ == "__main__":
    main()
