"""How the tags of the first validation texts change when each is tagged alone, and not in a batch with others."""

import torch


def start():
    pass


@torch.no_grad()
def look(names):
    model = names["model"]
    texts, tags = next(iter(names["validation_loader"]))
    texts, tags = texts.to(names["device"]), tags.to(names["device"])
    model.eval()
    together = model(texts)
    alone = torch.cat([model(text.unsqueeze(0)) for text in texts])
    model.train()
    return {
        "moved_by_neighbours": (together - alone).abs().max().item(),
        "tags_changed_by_neighbours": (together.argmax(2) != alone.argmax(2)).float().mean().item(),
    }
