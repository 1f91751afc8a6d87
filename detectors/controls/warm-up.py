"""Classify points of two spirals; the learning rate rises from 0 in the first twenty steps."""

import experiment
import torch
from torch import nn


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = experiment.network().to(config["device"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, step / 20))
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 11):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            loss = criterion(model(points[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            scheduler.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(labels), learning_rate=scheduler.get_last_lr()[0])
    records.write(config)


if __name__ == "__main__":
    main()
