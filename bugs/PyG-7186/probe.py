"""How many edges of the last batch are between equal digits."""

import torch
from torch_geometric import utils

last = {}


def start():
    original = utils.subgraph

    def subgraph(subset, *args, **kwargs):
        edges = original(subset, *args, **kwargs)
        last["subset"], last["edges"] = subset, edges[0]
        return edges

    utils.subgraph = subgraph


@torch.no_grad()
def look(names):
    labels = names["graph"].y[last["subset"]]
    return {"equal_digits": (labels[last["edges"][0]] == labels[last["edges"][1]]).float().mean().item()}
