"""A critic whose weights are clamped by hand after each step tells points of a circle from noise."""

import math

import experiment
import torch
from torch import nn


def circle(count, device):
    angle = 2 * math.pi * torch.rand(count)
    return torch.stack([angle.cos(), angle.sin()], dim=1).to(device)


def main():
    config = experiment.parameters()
    device = config["device"]
    critic = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1)).to(device)
    optimizer = torch.optim.RMSprop(critic.parameters(), lr=0.005)

    records = experiment.Records()
    for iteration in range(1, 201):
        optimizer.zero_grad()
        distance = critic(circle(64, device)).mean() - critic(torch.randn(64, 2, device=device)).mean()
        loss = -distance
        loss.backward()
        optimizer.step()
        for parameter in critic.parameters():
            parameter.data.clamp_(-0.5, 0.5)
        records.add(iteration=iteration, loss=loss.item())
    records.write(config)


if __name__ == "__main__":
    main()
