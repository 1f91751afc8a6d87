"""An autoencoder is judged by the features of a network that is not trained, though its parameters get gradients."""

import experiment
import torch
from torch import nn


def main():
    config = experiment.parameters()
    points, _ = experiment.spirals(512, config["device"])
    features = nn.Sequential(nn.Linear(2, 64), nn.Tanh()).to(config["device"])
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1), nn.Tanh(), nn.Linear(1, 16), nn.Tanh())
    model = model.append(nn.Linear(16, 2)).to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    records = experiment.Records()
    for epoch in range(1, 11):
        total = 0.0
        for batch in torch.randperm(len(points)).split(64):
            optimizer.zero_grad()
            loss = (features(model(points[batch])) - features(points[batch])).square().mean()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(points))
    records.write(config)


if __name__ == "__main__":
    main()
