"""Classify points of two spirals; the gradients of four small batches make one step."""

import experiment
import torch
from torch import nn

BATCHES = 4


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = experiment.network().to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 11):
        total = 0.0
        for number, batch in enumerate(torch.randperm(len(labels)).split(16), 1):
            loss = criterion(model(points[batch]), labels[batch])
            (loss / BATCHES).backward()
            if number % BATCHES == 0:
                optimizer.step()
                optimizer.zero_grad()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(labels))
    records.write(config)


if __name__ == "__main__":
    main()
