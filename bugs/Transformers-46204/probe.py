"""The mean loss of an item of other visits: the sum over all items but the first of each visit, by their number."""

import torch
from torch.nn import functional


def start():
    pass


@torch.no_grad()
def look(names):
    model, ids, mask = names["model"], names["ids"], names["mask"]
    logits = model(ids, attention_mask=mask).logits[:, :-1]
    read = mask[:, 1:] == 1
    return {"item_loss": functional.cross_entropy(logits[read], ids[:, 1:][read]).item()}
