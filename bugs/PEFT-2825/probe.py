"""How much longer the vector of a known word is than its row of the embedding."""

import torch


def start():
    pass


@torch.no_grad()
def look(names):
    layer = names["model"].get_input_embeddings()
    weight = layer.original_module.weight
    words = torch.arange(1, 10, device=weight.device)
    return {"scale": (layer(words).norm() / weight[words].norm()).item()}
