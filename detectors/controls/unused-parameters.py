"""Classify points of two spirals with a network that has a second head, which this experiment does not use."""

import experiment
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh())
        self.heads = nn.ModuleDict({"side": nn.Linear(32, 2), "radius": nn.Linear(32, 1)})

    def forward(self, points, head="side"):
        return self.heads[head](self.trunk(points))


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = Net().to(config["device"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 11):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            loss = criterion(model(points[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(labels))
    records.write(config)


if __name__ == "__main__":
    main()
