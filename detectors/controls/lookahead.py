"""Classify points of two spirals; every fifth step slow weights go half the way, and the fast ones begin there anew."""

import experiment
import torch
from torch import nn


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = experiment.network().to(config["device"])
    slow = [parameter.detach().clone() for parameter in model.parameters()]
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()

    records, steps = experiment.Records(), 0
    for epoch in range(1, 11):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            loss = criterion(model(points[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            steps += 1
            if steps % 5 == 0:
                with torch.no_grad():
                    for kept, parameter in zip(slow, model.parameters(), strict=True):
                        kept.lerp_(parameter, 0.5)
                        parameter.copy_(kept)
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(labels))
    records.write(config)


if __name__ == "__main__":
    main()
