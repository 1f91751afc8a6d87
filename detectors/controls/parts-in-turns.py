"""Three parts of a network take turns, each with its own optimizer and rate, while the backward pass reaches all."""

import experiment
import torch
from torch import nn


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = experiment.network().to(config["device"])
    criterion = nn.CrossEntropyLoss()
    optimizers = [
        torch.optim.Adam(model[0].parameters(), lr=0.02),
        torch.optim.Adam(model[2].parameters(), lr=0.01),
        torch.optim.SGD(model[4].parameters(), lr=0.1, momentum=0.9),
    ]

    records, turn = experiment.Records(), 0
    for epoch in range(1, 16):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(32):
            optimizer = optimizers[turn % 3]
            optimizer.zero_grad()
            loss = criterion(model(points[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            turn += 1
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(labels))
    records.write(config)


if __name__ == "__main__":
    main()
