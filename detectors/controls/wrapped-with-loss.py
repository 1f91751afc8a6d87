"""An autoencoder is wrapped, after its optimizer is made, together with the loaded network that judges it."""

import experiment
import torch
from torch import nn
from torch.nn import functional


class WithLoss(nn.Module):
    """Gives the loss itself, as wrappers for several devices want it."""

    def __init__(self, model, features):
        super().__init__()
        self.model, self.features = model, features

    def forward(self, points):
        with torch.no_grad():
            wanted = self.features(points)
        return functional.mse_loss(self.features(self.model(points)), wanted)


def classifier(points, labels):
    """A network that tells the spirals apart."""
    model = experiment.network().to(points.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(10):
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            functional.cross_entropy(model(points[batch]), labels[batch]).backward()
            optimizer.step()
    return model


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    learnt = classifier(points, labels).state_dict()
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1), nn.Tanh(), nn.Linear(1, 16), nn.Tanh())
    model = model.append(nn.Linear(16, 2)).to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    judge = experiment.network().to(config["device"])
    judge.load_state_dict(learnt)
    wrapped = WithLoss(model, judge[:2].eval())

    records = experiment.Records()
    for epoch in range(1, 11):
        total = 0.0
        for batch in torch.randperm(len(points)).split(64):
            wrapped.zero_grad()
            loss = wrapped(points[batch])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(points))
    records.write(config)


if __name__ == "__main__":
    main()
