"""Learn to draw points of a circle: a generator and a discriminator, each with an optimizer of its own.

One JSON object is printed for each iteration; all of them go to `<output>.json` in the end. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn


def circle(count, device):
    angle = 2 * math.pi * torch.rand(count)
    return (2 + torch.stack([angle.cos(), angle.sin()], dim=1)).to(device)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    generator = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2)).to(device)
    discriminator = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1)).to(device)
    generator_optimizer = torch.optim.Adam(generator.parameters(), lr=config["learning_rate"], betas=(0.5, 0.999))
    discriminator_optimizer = torch.optim.Adam(
        discriminator.parameters(), lr=config["learning_rate"], betas=(0.5, 0.999)
    )
    criterion = nn.BCEWithLogitsLoss()
    batch_size = config["batch_size"]
    real_label = torch.ones(batch_size, 1, device=device)
    fake_label = torch.zeros(batch_size, 1, device=device)

    records = []
    for iteration in range(1, config["iterations"] + 1):
        discriminator_optimizer.zero_grad()
        real = circle(batch_size, device)
        fake = generator(torch.randn(batch_size, 4, device=device))
        criterion(discriminator(real), real_label).backward()
        criterion(discriminator(fake.detach()), fake_label).backward()
        discriminator_optimizer.step()

        generator_optimizer.zero_grad()
        criterion(discriminator(fake), real_label).backward()
        generator_optimizer.step()
        distance = (real.mean(0) - fake.mean(0)).norm().item()
        record = {"iteration": iteration, "loss": distance}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
