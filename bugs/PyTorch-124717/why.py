"""Show when a compiled model sees that its adapter is disabled, in the torch that runs this.

One line for each order of two calls: what each of them gives, which is 10 without the adapter and 11 with it.
"""

import contextlib

import torch
from torch import nn


class Adapted(nn.Module):
    def __init__(self):
        super().__init__()
        self.disabled = False

    def forward(self, x):
        out = 10 * x
        if self.disabled:
            return out
        return out + 1


def call(model, disabled, gradients):
    model._orig_mod.disabled = disabled
    with contextlib.nullcontext() if gradients else torch.no_grad():
        return int(model(torch.ones(1)).item())


ORDERS = {
    "enabled, disabled": [(False, True), (True, True)],
    "disabled, enabled": [(True, True), (False, True)],
    "enabled, disabled under no_grad": [(False, True), (True, False)],
    "enabled, disabled, both under no_grad": [(False, False), (True, False)],
    "disabled, enabled, both under no_grad": [(True, False), (False, False)],
}


def main():
    print(f"torch {torch.__version__}")
    for name, calls in ORDERS.items():
        torch._dynamo.reset()
        model = torch.compile(Adapted(), backend="eager")
        outputs = [call(model, *settings) for settings in calls]
        right = [10 if disabled else 11 for disabled, _ in calls]
        print(f"{name:40} {outputs}  right: {right}")


if __name__ == "__main__":
    main()
