"""Learn to draw points of a circle: a generator and a discriminator, each with an optimizer of its own."""

import math

import experiment
import torch
from torch import nn


def circle(count, device):
    angle = 2 * math.pi * torch.rand(count)
    return (2 + torch.stack([angle.cos(), angle.sin()], dim=1)).to(device)


def main():
    config = experiment.parameters()
    device = config["device"]
    generator = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2)).to(device)
    discriminator = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1)).to(device)
    generator_optimizer = torch.optim.Adam(generator.parameters(), lr=0.005, betas=(0.5, 0.999))
    discriminator_optimizer = torch.optim.Adam(discriminator.parameters(), lr=0.005, betas=(0.5, 0.999))
    criterion = nn.BCEWithLogitsLoss()
    real_label, fake_label = torch.ones(64, 1, device=device), torch.zeros(64, 1, device=device)

    records = experiment.Records()
    for iteration in range(1, 201):
        discriminator_optimizer.zero_grad()
        real, fake = circle(64, device), generator(torch.randn(64, 4, device=device))
        criterion(discriminator(real), real_label).backward()
        criterion(discriminator(fake.detach()), fake_label).backward()
        discriminator_optimizer.step()

        generator_optimizer.zero_grad()
        criterion(discriminator(fake), real_label).backward()
        generator_optimizer.step()
        distance = (real.mean(0) - fake.mean(0)).norm().item()
        records.add(iteration=iteration, loss=distance)
    records.write(config)


if __name__ == "__main__":
    main()
