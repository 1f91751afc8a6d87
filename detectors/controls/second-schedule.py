"""Classify points of two spirals; the learning rate falls twice, and from there by a cosine for a second phase."""

import experiment
import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, StepLR


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = experiment.network().to(config["device"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
    scheduler = StepLR(optimizer, step_size=4, gamma=0.5)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 19):
        if epoch == 9:
            scheduler = CosineAnnealingLR(optimizer, T_max=10)
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            loss = criterion(model(points[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        scheduler.step()
        records.add(epoch=epoch, loss=total / len(labels), lr=scheduler.get_last_lr()[0])
    records.write(config)


if __name__ == "__main__":
    main()
