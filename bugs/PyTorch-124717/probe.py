"""The perplexity and the accuracy of the evaluation, measured without the compiler; whether DPO has begun."""

import torch
from torch.nn import functional


def start():
    pass


@torch.no_grad()
def look(names):
    model, texts, pairs = names["model"]._orig_mod, names["test_texts"], names["test_pairs"]

    def likelihood(texts):
        logits = model(texts[:, :-1])
        return -functional.cross_entropy(logits.transpose(1, 2), texts[:, 1:], reduction="none").sum(1)

    chosen, rejected = likelihood(pairs.flatten(0, 1)).view(-1, 2).unbind(1)
    return {
        "trained": names["epoch"] > 0,
        "perplexity_eager": torch.exp(-likelihood(texts).mean() / (texts.shape[1] - 1)).item(),
        "accuracy_eager": (chosen > rejected).float().mean().item(),
    }
