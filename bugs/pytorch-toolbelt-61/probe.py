"""The Lovász-Softmax loss of the validation views, from rows that are made pixel by pixel."""

import torch


def start():
    pass


@torch.no_grad()
def look(names):
    model, masks = names["model"], names["masks"].flatten()
    model.eval()
    probabilities = model(names["images"].to(names["device"])).softmax(1).cpu()
    losses = []
    for number in range(probabilities.shape[1]):
        inside = (masks == number).float()
        errors, order = (inside - probabilities[:, number].flatten()).abs().sort(descending=True)
        wrong = inside[order]
        jaccard = 1 - (wrong.sum() - wrong.cumsum(0)) / (wrong.sum() + (1 - wrong).cumsum(0))
        losses.append((errors * torch.cat([jaccard[:1], jaccard.diff()])).sum())
    return {"lovasz_loss": torch.stack(losses).mean().item()}
