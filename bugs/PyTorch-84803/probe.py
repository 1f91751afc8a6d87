"""How much of what is sent arrives, and the loss of each rank's half of the batches."""

import torch


def start():
    pass


def look(names):
    generator, tensor = torch.Generator().manual_seed(names["step"]), torch.ones(4)
    arrived = [names["link"].way(tensor, generator).equal(tensor) for _ in range(1000)]
    own, other = (sum(column) / len(column) for column in zip(*names["losses"], strict=True))
    return {"arrived": sum(arrived) / len(arrived), "first_loss": own, "second_loss": other}
