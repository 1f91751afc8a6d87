"""What the ranks' checkpoints make together: how far their copies differ, and what the model of one process can do.

The weights that are split are put together again. Of those that every rank has, either the first rank's copy is taken,
or the mean of all copies.
"""

import torch


def start():
    pass


def merge(whole, parts, choose):
    """The weights of a model that is not split."""
    merged = {}
    for name, weight in whole.named_parameters():
        copies = [part[name] for part in parts]
        split = hasattr(weight, "split_dimension")
        merged[name] = torch.cat(copies, weight.split_dimension) if split else choose(torch.stack(copies))
    return merged


def look(names):
    config, validation = names["config"], names["validation"]
    paths = [f"{config['output']}-rank{rank}.pt" for rank in range(config["world_size"])]
    parts = [torch.load(path, map_location=validation.device) for path in paths]
    whole = names["Sorter"](config, names["Team"](0, 1)).to(validation.device)
    copies = [name for name, weight in names["model"].named_parameters() if not hasattr(weight, "split_dimension")]
    measured = {
        "difference": max((part[name] - parts[0][name]).abs().max().item() for name in copies for part in parts),
    }
    for kind, choose in {"merged": lambda copies: copies[0], "averaged": lambda copies: copies.mean(0)}.items():
        whole.load_state_dict(merge(whole, parts, choose))
        measured[f"{kind}_loss"], measured[f"{kind}_right"] = names["validate"](whole, validation)
    return measured
