"""How the outputs of the first validation texts change when a text is tagged alone, and not with others."""

import torch


def start():
    pass


@torch.no_grad()
def look(names):
    model = names["model"]
    loader = names["validation_loader"]
    texts = loader.dataset.tensors[0][: loader.batch_size].to(names["device"])
    model.eval()
    together = model(texts)
    alone = torch.cat([model(text.unsqueeze(0)) for text in texts[:4]])
    model.train()
    return {"moved_by_neighbours": (together[:4] - alone).abs().max().item()}
