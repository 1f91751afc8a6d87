"""How many tensors of the network, as it is now, are those of the checkpoint, to the last bit."""

import torch


def start():
    pass


def look(names):
    saved = names["checkpoint"]["state_dict"]
    now = names["model"].state_dict()
    return {"tensors_loaded": sum(torch.equal(value, saved["model." + name]) for name, value in now.items())}
