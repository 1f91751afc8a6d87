"""Show which hooks a compiled network runs, in the torch that runs this.

One line for each place of a hook that is registered after the first call, with and without guards on hooks. The last
line is about the program of the report: how many of its three hooks, which the compiler must not enter, collect.
"""

from functools import partial

import torch
import torch._dynamo
from torch import nn


class Own(nn.Module):
    def forward(self, x):
        return 2 * x


def calls(place, skip):
    torch._dynamo.reset()
    torch._dynamo.config.skip_nnmodule_hook_guards = skip
    model = nn.Sequential(nn.Linear(4, 4), Own())
    compiled = torch.compile(model, backend="eager")
    compiled(torch.ones(2, 4))
    seen = []
    module = {"the network itself": model, "one of PyTorch's layers": model[0], "a layer of one's own": model[1]}[place]
    module.register_forward_hook(lambda *_: seen.append(1))
    for _ in range(3):
        compiled(torch.ones(2, 4))
    return len(seen)


def collected(skip, compiled_before):
    """How many of three hooks run in a pass; `compiled_before`: they are registered after a pass was compiled."""
    torch._dynamo.reset()
    torch._dynamo.config.skip_nnmodule_hook_guards = skip
    layers = (nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU())
    compiled = torch.compile(nn.Sequential(*layers), backend="eager")
    if compiled_before:
        compiled(torch.ones(2, 8))
    sums = {}

    @torch._dynamo.disable
    def collect(module, inputs, output, *, place):
        sums[place] = output.sum()

    for place, module in enumerate(compiled.modules()):
        if isinstance(module, nn.Linear):
            module.register_forward_hook(partial(collect, place=place))
    compiled(torch.ones(2, 8))
    return len(sums)


def report(skip):
    """The two rounds of the report's program: hooks before the first pass, which are right, and hooks after it."""
    collected(skip, False)
    return collected(skip, True)


def main():
    print(f"torch {torch.__version__}; calls of a hook in three passes, right: 3")
    for place in ("the network itself", "one of PyTorch's layers", "a layer of one's own"):
        print(f"{place:24} by default {calls(place, True)}, with guards on hooks {calls(place, False)}")
    print(f"the report's three hooks by default {report(True)}, with guards on hooks {report(False)}")


if __name__ == "__main__":
    main()
