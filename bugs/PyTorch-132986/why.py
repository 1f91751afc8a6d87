"""Show what a compiled module says of its mode, and which mode it has, in the torch that runs this.

One line for each order of calls: `training` of the wrapper, then of the module inside.
"""

import torch
from torch import nn


def compiled(module):
    return torch.compile(module, backend="eager")


def evaluated(module):
    return module.eval()


def trained(module):
    return module.train()


ORDERS = {
    "compile": [compiled],
    "compile, eval()": [compiled, evaluated],
    "compile, eval(), train()": [compiled, evaluated, trained],
    "eval(), compile": [evaluated, compiled],
    "eval(), compile, eval()": [evaluated, compiled, evaluated],
}


def main():
    print(f"torch {torch.__version__}")
    print(f"{'':26} {'wrapper':>8} {'inside':>8}")
    for name, calls in ORDERS.items():
        inside = wrapper = nn.Dropout()
        for call in calls:
            wrapper = call(wrapper)
        print(f"{name:26} {wrapper.training!s:>8} {inside.training!s:>8}")


if __name__ == "__main__":
    main()
