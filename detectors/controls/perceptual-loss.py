"""An autoencoder is judged by the features of a loaded network, in evaluation mode, through which gradients pass."""

import experiment
import torch
from torch import nn
from torch.nn import functional


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
    features = experiment.network().to(config["device"])
    features.load_state_dict(classifier(points, labels).state_dict())
    features = features[:2].eval().requires_grad_(False)
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1), nn.Tanh(), nn.Linear(1, 16), nn.Tanh())
    model = model.append(nn.Linear(16, 2)).to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    records = experiment.Records()
    for epoch in range(1, 11):
        total = 0.0
        for batch in torch.randperm(len(points)).split(64):
            with torch.no_grad():
                wanted = features(points[batch])
            optimizer.zero_grad()
            loss = functional.mse_loss(features(model(points[batch])), wanted)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(points))
    records.write(config)


if __name__ == "__main__":
    main()
