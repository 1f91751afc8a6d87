"""Whether the same loss without the compiler refuses the images."""

import torch
from torch.nn import functional


def start():
    pass


@torch.no_grad()
def look(names):
    images = names["validation"]
    reconstruction = names["model"].decode(names["model"].encode(images)[0])
    try:
        functional.binary_cross_entropy(reconstruction, images)
    except RuntimeError as error:
        assert "target should be between 0 and 1" in str(error), error
        return {"refused": 1}
    return {"refused": 0}
