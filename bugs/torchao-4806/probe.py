"""How many weights get no gradient, though the output of their layer does."""

import torch
from torch.nn import functional


def start():
    pass


def look(names):
    model, (images, digits) = names["model"], names["training"]
    still = {}

    def note(layer, inputs, output):
        output.register_hook(lambda gradient: still.update({layer: gradient.abs().sum(0) > 0}))

    layers = [layer for layer in model if isinstance(layer, torch.nn.Linear)]
    handles = [layer.register_forward_hook(note) for layer in layers]
    functional.cross_entropy(model(images), digits).backward()
    without = total = 0
    for layer in layers:
        used = layer.weight.grad[still[layer]]
        without += (used == 0).sum().item()
        total += used.numel()
    for handle in handles:
        handle.remove()
    model.zero_grad()
    return {"without_gradient": without / total}
