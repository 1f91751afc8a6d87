"""Embed points so that two noisy views of one are near: all pairs of a batch are compared, by broadcasting."""

import experiment
import torch
from torch import nn
from torch.nn import functional


def main():
    config = experiment.parameters()
    points, _ = experiment.spirals(512, config["device"])
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 8)).to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)

    records = experiment.Records()
    for epoch in range(1, 11):
        total = 0.0
        for batch in torch.randperm(len(points)).split(64):
            one, two = (points[batch] + 0.05 * torch.randn_like(points[batch]) for _ in range(2))
            optimizer.zero_grad()
            left, right = model(one), model(two)
            distances = (left.unsqueeze(1) - right.unsqueeze(0)).square().sum(dim=2)
            loss = functional.cross_entropy(-distances, torch.arange(len(batch), device=points.device))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(points))
    records.write(config)


if __name__ == "__main__":
    main()
