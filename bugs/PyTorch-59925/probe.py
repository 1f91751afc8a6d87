"""How far the layers for the points move after epoch 1, which weights are registered, what a checkpoint is worth."""

import torch

first = []


def start():
    pass


@torch.no_grad()
def look(names):
    model, config = names["model"], names["config"]
    if names["record"]["part"] == "test":
        return {}
    weights = [weight for layer in model.layers for weight in layer.parameters()]
    total = sum(weight.numel() for weight in weights + list(model.classifier.parameters()))
    registered = sum(weight.numel() for weight in model.parameters())
    if not first:
        first[:] = [weight.clone() for weight in weights]
    moved = torch.cat([(now - then).flatten() for now, then in zip(weights, first, strict=True)]).norm().item()
    loaded = type(model)(config["width"], config["depth"], names["KINDS"])
    loaded.load_state_dict(model.state_dict())
    return {
        "registered": registered / total,
        "moved": moved,
        "accuracy_loaded": names["accuracy"](loaded, *names["validation"]),
    }
