"""What clip_grad_norm_ does with parameters that have been gone through once already. One line for each iterable."""

import warnings

import torch
from torch import nn


def clipped(iterable):
    """The norm that is reported, whether something was said, and the norm that is left of a gradient of norm 5."""
    parameter = nn.Parameter(torch.zeros(2))
    parameter.grad = torch.tensor([3.0, 4.0])
    parameters = iterable([parameter])
    torch.optim.SGD(parameters, lr=0.1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reported = nn.utils.clip_grad_norm_(parameters, 1.0)
    return f"{reported:8.1f}  {'yes' if caught else 'no':>6}  {parameter.grad.norm():4.1f}"


def main():
    print(f"torch {torch.__version__}")
    print(f"{'':10} reported  warned  left")
    for name, iterable in {
        "list": list,
        "generator": lambda parameters: (parameter for parameter in parameters),
        "filter": lambda parameters: filter(lambda parameter: parameter.requires_grad, parameters),
    }.items():
        print(f"{name:10} {clipped(iterable)}")


if __name__ == "__main__":
    main()
