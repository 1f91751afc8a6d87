"""How much more than cross-entropy the loss makes of the hardest and of the easiest training images."""

import torch
from torch.nn.functional import cross_entropy


def start():
    pass


def look(names):
    model, (images, labels), criterion = names["model"], names["training"], names["criterion"]
    model.eval()
    with torch.no_grad():
        prediction = model(images).double()
    prediction.requires_grad_()
    difficulty = cross_entropy(prediction, labels, reduction="none").detach()
    (plain,) = torch.autograd.grad(cross_entropy(prediction, labels), prediction)
    (focal,) = torch.autograd.grad(criterion(prediction, labels), prediction)
    weight = (focal.norm(dim=1) / plain.norm(dim=1))[difficulty.argsort()]
    tenth = len(weight) // 10
    easy, hard = weight[:tenth].mean().item(), weight[-tenth:].mean().item()
    return {"weight_of_easy": easy, "weight_of_hard": hard, "hard_over_easy": hard / easy}
