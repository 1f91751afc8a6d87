"""A critic of a circle whose gradient is kept near 1 by a penalty, five steps for each one of the generator."""

import math

import experiment
import torch
from torch import nn


def circle(count, device):
    angle = 2 * math.pi * torch.rand(count)
    return (2 + torch.stack([angle.cos(), angle.sin()], dim=1)).to(device)


def penalty(critic, real, fake):
    """After Gulrajani et al. 2017."""
    share = torch.rand(len(real), 1, device=real.device)
    between = (share * real + (1 - share) * fake).requires_grad_()
    (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return ((slope.norm(dim=1) - 1) ** 2).mean()


def main():
    config = experiment.parameters()
    device = config["device"]
    generator = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2)).to(device)
    critic = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1)).to(device)
    of_generator = torch.optim.Adam(generator.parameters(), lr=0.01, betas=(0.5, 0.9))
    of_critic = torch.optim.Adam(critic.parameters(), lr=0.01, betas=(0.5, 0.9))

    records = experiment.Records()
    for iteration in range(1, 101):
        for _ in range(5):
            real, noise = circle(64, device), torch.randn(64, 4, device=device)
            with torch.no_grad():
                fake = generator(noise)
            of_critic.zero_grad()
            (critic(fake).mean() - critic(real).mean() + 10 * penalty(critic, real, fake)).backward()
            of_critic.step()
        of_generator.zero_grad()
        fake = generator(torch.randn(64, 4, device=device))
        (-critic(fake).mean()).backward()
        of_generator.step()
        records.add(iteration=iteration, loss=(circle(256, device).mean(0) - fake.mean(0)).norm().item())
    records.write(config)


if __name__ == "__main__":
    main()
