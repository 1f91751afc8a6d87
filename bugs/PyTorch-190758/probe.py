"""How far the compiled network's gradient is from that of the same network without the compiler, by the same masks."""

import torch
from torch.nn import functional


def start():
    pass


def look(names):
    model, beats, kinds = names["model"], *(part[: names["config"]["batch_size"]] for part in names["train_beats"])
    model.train()
    gradients = []
    for network in (model, names["compiled"]):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model.zero_grad()
            functional.cross_entropy(network(beats), kinds).backward()
        gradients.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]))
    model.zero_grad()
    model.eval()
    right, compiled = gradients
    return {"gradient_error": ((compiled - right).norm() / right.norm()).item()}
