"""A head is trained upon a body whose batch norm and dropout stay in evaluation mode from the beginning."""

import experiment
import torch
from torch import nn


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.2))
        self.head = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 2))

    def train(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self

    def forward(self, points):
        with torch.no_grad():
            state = self.body(points)
        return self.head(state)


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = Probe().to(config["device"]).train()
    optimizer = torch.optim.Adam(model.head.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 11):
        model.train()
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            loss = criterion(model(points[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        model.eval()
        with torch.no_grad():
            records.add(epoch=epoch, loss=total / len(labels), validation=criterion(model(points), labels).item())
    records.write(config)


if __name__ == "__main__":
    main()
