"""Classify points of two spirals by sharpness-aware minimisation: up to the worst neighbour, back, and a step."""

import experiment
import torch
from torch import nn

RADIUS = 0.05


@torch.no_grad()
def climb(parameters):
    """Move to the worst point near by; returns the way."""
    norm = torch.stack([parameter.grad.norm() for parameter in parameters]).norm()
    way = [RADIUS / (norm + 1e-12) * parameter.grad for parameter in parameters]
    for parameter, part in zip(parameters, way, strict=True):
        parameter.add_(part)
    return way


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = experiment.network().to(config["device"])
    parameters = list(model.parameters())
    optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=0.9)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 11):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            loss = criterion(model(points[batch]), labels[batch])
            loss.backward()
            way = climb(parameters)
            optimizer.zero_grad()
            criterion(model(points[batch]), labels[batch]).backward()
            with torch.no_grad():
                for parameter, part in zip(parameters, way, strict=True):
                    parameter.sub_(part)
            optimizer.step()
            optimizer.zero_grad()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(labels))
    records.write(config)


if __name__ == "__main__":
    main()
