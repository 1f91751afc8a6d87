"""By which gradient the parameters have gone since the last record: the way they went, divided by the learning rate."""

import torch
from torch import nn

# The parameters after the last update; before the first one, those that the optimizer was given.
seen = {}


def start():
    initialise = torch.optim.SGD.__init__

    def initialise_and_note(optimizer, parameters, *arguments, **options):
        parameters = list(parameters)
        initialise(optimizer, parameters, *arguments, **options)
        seen["parameters"] = flat(parameters)

    torch.optim.SGD.__init__ = initialise_and_note


def flat(parameters):
    return nn.utils.parameters_to_vector(parameters).detach().clone()


def look(names):
    rate = names["config"]["learning_rate"]
    now = flat(names["model"].parameters())
    used = (seen["parameters"] - now) / rate
    seen["parameters"] = now
    set_by_closure = torch.cat([parameter.grad.flatten() for parameter in names["model"].parameters()])
    return {"gradient_used": used.norm().item(), "difference": (used - set_by_closure).norm().item()}
