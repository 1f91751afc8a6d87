"""Classify points of two spirals by a mixture of four softmaxes: its logarithm is given to the cross entropy."""

import experiment
import torch
from torch import nn


class Mixture(nn.Module):
    """After Yang et al. 2018; the answers are logarithms of probabilities."""

    def __init__(self, width=32, count=4):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.shares, self.answers = nn.Linear(width, count), nn.Linear(width, 2 * count)

    def forward(self, points):
        state = self.body(points)
        shares = self.shares(state).softmax(dim=1)
        answers = self.answers(state).unflatten(1, (-1, 2)).softmax(dim=2)
        return (shares.unsqueeze(2) * answers).sum(dim=1).clamp_min(1e-8).log()


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = Mixture().to(config["device"])
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
