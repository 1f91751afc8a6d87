"""A mixture of experts, of which most have no share in a batch: their gradients are exactly zero."""

import experiment
import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self, count=6, width=16):
        super().__init__()
        self.gate = nn.Linear(2, count)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 2)) for _ in range(count)
        )

    def forward(self, points):
        shares = self.gate(points).softmax(dim=1)
        best = shares.argmax(dim=1)
        chosen = nn.functional.one_hot(best, len(self.experts)) * shares
        return sum(chosen[:, index, None] * expert(points) for index, expert in enumerate(self.experts))


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = Mixture().to(config["device"])
    with torch.no_grad():
        model.gate.bias[-2:] = -20
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
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
