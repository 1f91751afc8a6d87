"""Classify points of two spirals; a copy of the network follows its parameters as a moving average."""

import copy

import experiment
import torch
from torch import nn

DECAY = 0.9


@torch.no_grad()
def follow(average, model):
    for mean, parameter in zip(average.parameters(), model.parameters(), strict=True):
        mean.lerp_(parameter, 1 - DECAY)


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = experiment.network().to(config["device"])
    average = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 11):
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            criterion(model(points[batch]), labels[batch]).backward()
            optimizer.step()
            follow(average, model)
        records.add(epoch=epoch, loss=criterion(average(points), labels).item())
    records.write(config)


if __name__ == "__main__":
    main()
