"""Loss and accuracy for the validation images as they are, and the accuracy of the current and kept model in test."""

import copy

import torch
from torch.nn.functional import cross_entropy


def start():
    pass


@torch.no_grad()
def look(names):
    config, signs, model, device = names["config"], names["signs"], names["model"], names["device"]
    chosen = names["validation"].indices
    images, kinds = names["images"][chosen].to(device), names["kinds"][chosen].to(device)
    test_images, test_kinds = signs.draw(config["test_images"], config["noise"], config["seed"], 200 + config["seed"])
    model.eval()
    outputs = model(images)
    kept = copy.deepcopy(model)
    kept.load_state_dict(names["best_weights"])
    test_images, accuracies = test_images.to(device), []
    for network in (model, kept):
        accuracies.append((network(test_images).argmax(1).cpu() == test_kinds).float().mean().item())
    return {
        "true_loss": cross_entropy(outputs, kinds).item(),
        "true_accuracy": (outputs.argmax(1) == kinds).float().mean().item(),
        "test_accuracy": accuracies[0],
        "kept_test_accuracy": accuracies[1],
    }
