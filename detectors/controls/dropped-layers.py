"""Classify points of two spirals; every batch leaves out some residual layers at random, which then learn nothing."""

import experiment
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=32, depth=4):
        super().__init__()
        self.first = nn.Linear(2, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.last = nn.Linear(width, 2)

    def forward(self, points):
        hidden = torch.tanh(self.first(points))
        for layer in self.layers:
            if torch.rand(()) < 0.7:
                hidden = hidden + torch.tanh(layer(hidden))
        return self.last(hidden)


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = Net().to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
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
