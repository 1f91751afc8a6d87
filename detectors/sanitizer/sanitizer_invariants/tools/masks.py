"""Which places of a table of tokens a mask hides."""

import torch

# Of fewer tokens on the other side anything might be said.
OTHERS = 3


def find_hidden(tokens, mask):
    """Which places a mask of two values hides: all of them hold one token, and the others several.
    None where a table of the same shape is no such mask.
    """
    if mask.device != tokens.device or mask.is_meta:
        return None
    values = torch.unique(mask.detach())
    if len(values) != 2:
        return None
    sides = [mask == value for value in values]
    counts = [len(torch.unique(tokens[side])) for side in sides]
    for side, count, other in zip(sides, counts, reversed(counts)):  # noqa: B905
        if count == 1 and other >= OTHERS:
            return side
    return None
