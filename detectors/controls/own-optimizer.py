"""Classify points of two spirals with an optimizer of one's own: the sign of a moving mean of gradients."""

import experiment
import torch
from torch import nn


class SignMean(torch.optim.Optimizer):
    """After Lion (Chen et al. 2023): the step has the same size for every number, and decays the weights."""

    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.99), decay=0.01):
        super().__init__(parameters, {"lr": lr, "betas": betas, "decay": decay})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            (fast, slow), lr = group["betas"], group["lr"]
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                mean = self.state[parameter].setdefault("mean", torch.zeros_like(parameter))
                parameter.mul_(1 - lr * group["decay"])
                parameter.sub_(lr * mean.lerp(parameter.grad, 1 - fast).sign())
                mean.lerp_(parameter.grad, 1 - slow)
        return loss


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = experiment.network().to(config["device"])
    optimizer = SignMean(model.parameters(), lr=0.003)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 11):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            loss = criterion(model(points[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(labels))
    records.write(config)


if __name__ == "__main__":
    main()
