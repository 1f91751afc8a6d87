"""Gradients of an embedding are clipped, where there is one: here the points go into the body as they are."""

import experiment
import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, embedding=0, width=32):
        super().__init__()
        self.pre = nn.Linear(2, embedding) if embedding else nn.Identity()
        self.body = nn.Sequential(nn.Linear(embedding or 2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.head = nn.Linear(width, 2)

    def forward(self, points):
        return self.head(self.body(self.pre(points)))


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = Classifier().to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 11):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            loss = criterion(model(points[batch]), labels[batch])
            loss.backward()
            nn.utils.clip_grad_norm_(model.pre.parameters(), 0.1)
            optimizer.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(labels))
    records.write(config)


if __name__ == "__main__":
    main()
