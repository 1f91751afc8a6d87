"""Which schedulers change a learning rate that is already loaded? One line for each kind.

Ten of thirty steps are done, then optimizer and scheduler are built anew. Columns: the learning rate in the
checkpoint; the optimizer's after a scheduler is built upon the loaded state; and the same after the scheduler's own
state is loaded; then the learning rate of the last step, resumed, and without an interruption.
"""

import warnings

import torch
from torch.optim import lr_scheduler as schedulers

STEPS, DONE = 30, 10
KINDS = {
    "StepLR": lambda optimizer: schedulers.StepLR(optimizer, step_size=6, gamma=0.5),
    "ExponentialLR": lambda optimizer: schedulers.ExponentialLR(optimizer, gamma=0.9),
    "CosineAnnealingLR": lambda optimizer: schedulers.CosineAnnealingLR(optimizer, T_max=STEPS),
    "PolynomialLR": lambda optimizer: schedulers.PolynomialLR(optimizer, total_iters=STEPS),
    "ConstantLR": lambda optimizer: schedulers.ConstantLR(optimizer, factor=0.5, total_iters=STEPS),
    "LinearLR": lambda optimizer: schedulers.LinearLR(optimizer, start_factor=0.1, total_iters=STEPS),
    "LambdaLR": lambda optimizer: schedulers.LambdaLR(optimizer, lambda step: 1 / (1 + step)),
    "OneCycleLR": lambda optimizer: schedulers.OneCycleLR(optimizer, max_lr=0.1, total_steps=STEPS),
    "SequentialLR": lambda optimizer: schedulers.SequentialLR(
        optimizer,
        [
            schedulers.LinearLR(optimizer, start_factor=0.1, total_iters=5),
            schedulers.CosineAnnealingLR(optimizer, T_max=STEPS - 5),
        ],
        milestones=[5],
    ),
}


def new_optimizer():
    return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1, momentum=0.9)


def rate(optimizer):
    return optimizer.param_groups[0]["lr"]


def go_on(optimizer, scheduler, steps):
    for _ in range(steps):
        optimizer.step()
        scheduler.step()


def main():
    warnings.simplefilter("ignore")
    print(f"torch {torch.__version__}")
    print(f"{'':18} {'saved':>9} {'built':>9} {'loaded':>9} {'last':>9} {'unbroken':>9}")
    for name, build in KINDS.items():
        first = new_optimizer()
        scheduler = build(first)
        go_on(first, scheduler, DONE)
        states, saved = (first.state_dict(), scheduler.state_dict()), rate(first)

        second = new_optimizer()
        second.load_state_dict(states[0])
        resumed = build(second)
        built = rate(second)
        resumed.load_state_dict(states[1])
        loaded = rate(second)

        for optimizer, its in ((second, resumed), (first, scheduler)):
            go_on(optimizer, its, STEPS - 1 - DONE)
        numbers = (saved, built, loaded, rate(second), rate(first))
        print(f"{name:18} " + " ".join(f"{float(number):9.6f}" for number in numbers))


if __name__ == "__main__":
    main()
