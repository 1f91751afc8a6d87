"""Points come in parts of different size: sums of losses are accumulated, and the gradients divided by the count."""

import experiment
import torch
from torch import nn


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = experiment.network().to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss(reduction="sum")

    records = experiment.Records()
    for epoch in range(1, 11):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            for part in batch.split((8, 16, 40)):
                loss = criterion(model(points[part]), labels[part])
                loss.backward()
                total += loss.item()
            for parameter in model.parameters():
                parameter.grad /= len(batch)
            optimizer.step()
        records.add(epoch=epoch, loss=total / len(labels))
    records.write(config)


if __name__ == "__main__":
    main()
