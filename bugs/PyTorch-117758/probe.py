"""The accuracy on other digits of the network without the compiler, as it is to be used: with the hooks that it has."""

import torch


def start():
    pass


@torch.no_grad()
def look(names):
    images, labels = names["test_data"]
    return {"deployed_accuracy": (names["model"](images).argmax(1) == labels).float().mean().item()}
