"""Classify points of two spirals with residual blocks that are skipped at random, and scaled in evaluation."""

import experiment
import torch
from torch import nn

KEPT = 0.8


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, state):
        if not self.training:
            return state + KEPT * self.inner(state)
        return state + self.inner(state) if torch.rand(()) < KEPT else state


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = nn.Sequential(nn.Linear(2, 32), *(Block(32) for _ in range(4)), nn.Linear(32, 2)).to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 11):
        model.train()
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            criterion(model(points[batch]), labels[batch]).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            records.add(epoch=epoch, loss=criterion(model(points), labels).item())
    records.write(config)


if __name__ == "__main__":
    main()
