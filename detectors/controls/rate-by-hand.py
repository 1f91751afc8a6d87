"""Classify points of two spirals; the learning rate goes up and down in a triangle, set by hand, beside a scheduler."""

import experiment
import torch
from torch import nn


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = experiment.network().to(config["device"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    criterion = nn.CrossEntropyLoss()

    records, steps = experiment.Records(), 0
    for epoch in range(1, 11):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            place = steps % 16 / 8
            for group in optimizer.param_groups:
                group["lr"] = scheduler.get_last_lr()[0] * (0.1 + 0.9 * min(place, 2 - place))
            optimizer.zero_grad()
            loss = criterion(model(points[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            steps += 1
            total += loss.item() * len(batch)
        # The scheduler multiplies the rate that it finds in the group: that has to be its own one.
        for group in optimizer.param_groups:
            group["lr"] = scheduler.get_last_lr()[0]
        scheduler.step()
        records.add(epoch=epoch, loss=total / len(labels))
    records.write(config)


if __name__ == "__main__":
    main()
