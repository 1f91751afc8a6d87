"""Draw numbers like those of a mixture: the loss is the energy distance of two samples, of all differences in them."""

import experiment
import torch
from torch import nn


def mixture(count, device):
    """Numbers around -1 and, twice as often, around 2."""
    centre = torch.where(torch.rand(count) < 1 / 3, -1.0, 2.0)
    return (centre + 0.3 * torch.randn(count)).to(device)


def main():
    config = experiment.parameters()
    device = config["device"]
    generator = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1)).to(device)
    optimizer = torch.optim.Adam(generator.parameters(), lr=0.003)

    records = experiment.Records()
    for iteration in range(1, 201):
        real = mixture(256, device)
        fake = generator(torch.randn(256, 4, device=device))
        within = (fake - fake.squeeze(1)).abs().mean() + (real.unsqueeze(1) - real).abs().mean()
        loss = 2 * (fake - real).abs().mean() - within
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        records.add(iteration=iteration, loss=loss.item())
    records.write(config)


if __name__ == "__main__":
    main()
