"""What becomes of a hook like those of DistributedDataParallel when a module is converted: a line for each conversion.

The hook is put on the node of autograd's graph that adds to the parameter's gradient, as in the constructor of
DistributedDataParallel. There are two backward passes, and the conversion is between them.
"""

import torch
from torch import nn

CONVERSIONS = {
    "none": lambda module: None,
    "float": lambda module: module.float(),
    "double, float": lambda module: module.double().float(),
}


def accumulator(parameter):
    return parameter.view_as(parameter).grad_fn.next_functions[0][0]


def convert(conversion):
    module = nn.Linear(2, 1, bias=False)
    parameter, node = module.weight, accumulator(module.weight)
    calls = []
    node.register_hook(lambda *gradients: calls.append(gradients))
    module(torch.ones(1, 2)).sum().backward()
    conversion(module)
    module(torch.ones(1, 2)).sum().backward()
    return parameter is module.weight, node is accumulator(parameter), len(calls)


def main():
    print(f"torch {torch.__version__}")
    print(f"{'conversion':13}  same parameter  same node  calls of the hook")
    for name, conversion in CONVERSIONS.items():
        same_parameter, same_node, calls = convert(conversion)
        print(f"{name:13}  {same_parameter!s:14}  {same_node!s:9}  {calls}")


if __name__ == "__main__":
    main()
