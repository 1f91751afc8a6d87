"""Predict nine quantiles of a noisy curve: predictions (n, 9) are compared with targets (n, 1)."""

import experiment
import torch
from torch import nn


def main():
    config = experiment.parameters()
    device = config["device"]
    place = 4 * torch.rand(512, 1, device=device) - 2
    target = place.sin() + 0.05 * (1 + place.abs()) * torch.randn(512, 1, device=device)
    levels = torch.linspace(0.1, 0.9, 9, device=device)
    model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 9)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    records = experiment.Records()
    for epoch in range(1, 21):
        total = 0.0
        for batch in torch.randperm(len(place)).split(64):
            optimizer.zero_grad()
            error = target[batch] - model(place[batch])
            loss = torch.maximum(levels * error, (levels - 1) * error).mean()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(place))
    records.write(config)


if __name__ == "__main__":
    main()
