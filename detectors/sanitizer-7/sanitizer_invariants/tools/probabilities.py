"""Numbers that are probabilities."""

import torch


def are_probabilities(logits):
    """Whether all rows are probabilities of two classes or more, up to rounding."""
    dim = 1 if logits.dim() > 1 else 0
    if not logits.dim() or logits.shape[dim] < 2 or not logits.is_floating_point():
        return False
    # The first row of logits nearly always tells.
    if bool((logits[:1] < 0).any()) or bool((logits < 0).any()):
        return False
    # Each of the numbers is rounded, and the sum each time that one is added.
    rounding = (logits.shape[dim] + 8) * torch.finfo(logits.dtype).eps
    return bool(((logits.double().sum(dim) - 1).abs() <= min(rounding, 0.01)).all())
