"""Classify points of two spirals; for the evaluation the weights are swapped for their moving average, and back."""

import experiment
import torch
from torch import nn

DECAY = 0.9


@torch.no_grad()
def swap(model, average):
    for name, parameter in model.named_parameters():
        kept = parameter.clone()
        parameter.copy_(average[name])
        average[name].copy_(kept)


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = experiment.network().to(config["device"])
    average = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 11):
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            criterion(model(points[batch]), labels[batch]).backward()
            optimizer.step()
            for name, parameter in model.named_parameters():
                average[name].lerp_(parameter.detach(), 1 - DECAY)
        swap(model, average)
        with torch.no_grad():
            records.add(epoch=epoch, loss=criterion(model(points), labels).item())
        swap(model, average)
    records.write(config)


if __name__ == "__main__":
    main()
