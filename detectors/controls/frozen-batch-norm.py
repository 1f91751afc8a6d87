"""A head is trained upon a body that has learnt already; its batch norm and dropout stay in evaluation mode."""

import experiment
import torch
from torch import nn
from torch.nn import functional


def train(model, parameters, points, labels, epochs):
    """Yields the mean loss of each epoch."""
    optimizer = torch.optim.Adam(parameters, lr=0.01)
    for _ in range(epochs):
        model.train()
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(points[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        yield total / len(labels)


class Probe(nn.Module):
    """A frozen body and a new head."""

    def __init__(self, body):
        super().__init__()
        self.body, self.head = body.requires_grad_(False), nn.Linear(64, 2)

    def train(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self

    def forward(self, points):
        return self.head(self.body(points))


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    held_out, truth = experiment.spirals(256, config["device"])
    body = nn.Sequential(nn.Linear(2, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1))
    first = nn.Sequential(body, nn.Linear(64, 2)).to(config["device"])
    list(train(first, first.parameters(), points, labels, 10))

    # The new task is another question about the same points.
    labels, truth = (points[:, 0] > 0).long(), (held_out[:, 0] > 0).long()
    model, records = Probe(body).to(config["device"]), experiment.Records()
    for epoch, loss in enumerate(train(model, model.head.parameters(), points, labels, 10), 1):
        model.eval()
        with torch.no_grad():
            records.add(epoch=epoch, loss=loss, validation=functional.cross_entropy(model(held_out), truth).item())
    records.write(config)


if __name__ == "__main__":
    main()
