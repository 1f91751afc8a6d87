"""Classify points of two spirals by a compiled step; the learning rate is halved after each 120 steps."""

import experiment
import torch
from torch import nn


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = experiment.network().to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=120, gamma=0.5)
    criterion = nn.CrossEntropyLoss()

    @torch.compile(backend="aot_eager")
    def step():
        optimizer.step()

    records = experiment.Records()
    for epoch in range(1, 23):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(32):
            optimizer.zero_grad()
            loss = criterion(model(points[batch]), labels[batch])
            loss.backward()
            step()
            scheduler.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(labels), lr=scheduler.get_last_lr()[0])
    records.write(config)


if __name__ == "__main__":
    main()
