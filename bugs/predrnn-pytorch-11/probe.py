"""How far the adapter, which only the similarity trains, has moved from where it was before the first step."""

import torch

before = None


def start():
    step = torch.optim.Adam.step

    def watched(optimizer, *args, **kwargs):
        global before
        if before is None:
            before = [parameter.detach().clone() for group in optimizer.param_groups for parameter in group["params"]]
        return step(optimizer, *args, **kwargs)

    torch.optim.Adam.step = watched


@torch.no_grad()
def look(names):
    parameters, adapter = list(names["model"].parameters()), names["model"].adapter.weight
    index = next(i for i, parameter in enumerate(parameters) if parameter is adapter)
    return {"adapter_moved": (adapter - before[index]).norm().item()}
