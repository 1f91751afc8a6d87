"""What the weights that have just been validated would get: in a second validation, and without attention dropout."""

import torch


def start():
    pass


@torch.no_grad()
def judged(model, validation, criterion):
    """The loss, and the class of each image."""
    model.eval()
    images, labels = validation
    prediction = model(images)
    return criterion(prediction, labels).item(), prediction.argmax(1)


def look(names):
    model, (_, labels) = names["model"], names["validation"]
    arguments = (model, names["validation"], names["criterion"])
    (repeated, predicted), (_, again) = judged(*arguments), judged(*arguments)
    dropouts = [module.attn_drop for module in model.modules() if hasattr(module, "attn_drop")]
    probabilities = [dropout.p for dropout in dropouts]
    for dropout in dropouts:
        dropout.p = 0.0
    right, rightly = judged(*arguments)
    for dropout, probability in zip(dropouts, probabilities, strict=True):
        dropout.p = probability
    return {
        "repeated_loss": repeated,
        "difference": abs(repeated - names["validation_loss"]),
        "changed": int((predicted != again).sum()),
        "loss_without_dropout": right,
        "accuracy_without_dropout": (rightly == labels).float().mean().item(),
    }
