"""SGD whose momentum buffers are None, compiled and ordinary: a minimal program.

    python momentum.py            # any release from torch 2.4
    python momentum.py mended     # with one line of Dynamo changed, in memory

None is SGD's own sign for "no momentum yet": torch 2.3.1 and older write it into the state after a
step without momentum, and a checkpoint keeps it. Every gradient is 1, so that momentum alone makes
steps longer.
"""

import inspect
import sys
import textwrap

import torch
import torch._dynamo
from torch._dynamo.variables import optimizer as dynamo

# How many parameters there are, and whose momentum is None.
CASES = [(1, [0]), (2, [0]), (2, [1]), (2, [0, 1])]


def train(count, lacking, compiled):
    torch._dynamo.reset()
    parameters = [torch.nn.Parameter(torch.ones(1)) for _ in range(count)]
    optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=0.9)
    step = torch._dynamo.optimize("eager")(optimizer.step) if compiled else optimizer.step
    for iteration in range(6):
        for index in lacking if iteration == 3 else ():
            optimizer.state[parameters[index]]["momentum_buffer"] = None
        for parameter in parameters:
            parameter.grad = torch.ones(1)
        step()
    return [round(parameter.item(), 3) for parameter in parameters]


def load(compiled):
    torch._dynamo.reset()
    parameter = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([parameter], lr=0.1, momentum=0.9)
    saved = optimizer.state_dict()
    optimizer.load_state_dict({**saved, "state": {0: {"momentum_buffer": None}}})
    step = torch._dynamo.optimize("eager")(optimizer.step) if compiled else optimizer.step
    for _ in range(6):
        parameter.grad = torch.ones(1)
        step()
    return [round(parameter.item(), 3)]


def mend():
    """The first key of the state has the index 0, which is false: ask for None instead."""
    kind = dynamo.OptimizerVariable
    source = textwrap.dedent(inspect.getsource(kind.map_sources_and_install_guards))
    assert source.count("if key_index:") == 1, "this release does not have the line"
    rows_by_case = {}
    exec(source.replace("if key_index:", "if key_index is not None:"), vars(dynamo), rows_by_case)
    kind.map_sources_and_install_guards = rows_by_case["map_sources_and_install_guards"]


def main():
    word = " mended" if sys.argv[1:] == ["mended"] else ""
    if word:
        mend()
    version = torch.__version__.split("+")[0] + word
    for count, lacking in CASES:
        ordinary, compiled = (
            train(count, lacking, compiled=False),
            train(count, lacking, compiled=True),
        )
        print(
            f"{version}: parameters: {count}, None for {lacking} in step 4: {ordinary} compiled "
            f"{compiled}"
        )
    print(
        f"{version}: parameters: 1, loaded with None: {load(compiled=False)} compiled "
        f"{load(compiled=True)}"
    )


if __name__ == "__main__":
    main()
