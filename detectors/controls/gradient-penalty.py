"""A critic of a circle whose gradient is kept near 1 by a penalty, five steps for each one of the generator.

One JSON object is printed for each iteration; all of them go to `<output>.json` in the end. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
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


def penalty(critic, real, fake):
    """After Gulrajani et al. 2017."""
    share = torch.rand(len(real), 1, device=real.device)
    between = (share * real + (1 - share) * fake).requires_grad_()
    (slope,) = torch.autograd.grad(critic(between).sum(), between, create_graph=True)
    return ((slope.norm(dim=1) - 1) ** 2).mean()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    generator = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2)).to(device)
    critic = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1)).to(device)
    of_generator = torch.optim.Adam(generator.parameters(), lr=config["learning_rate"], betas=(0.5, 0.9))
    of_critic = torch.optim.Adam(critic.parameters(), lr=config["learning_rate"], betas=(0.5, 0.9))

    records = []
    for iteration in range(1, config["iterations"] + 1):
        for _ in range(5):
            real = circle(config["batch_size"], device)
            noise = torch.randn(len(real), 4, device=device)
            with torch.no_grad():
                fake = generator(noise)
            of_critic.zero_grad()
            (critic(fake).mean() - critic(real).mean() + 10 * penalty(critic, real, fake)).backward()
            of_critic.step()
        of_generator.zero_grad()
        fake = generator(torch.randn(config["batch_size"], 4, device=device))
        (-critic(fake).mean()).backward()
        of_generator.step()
        record = {"iteration": iteration, "loss": (circle(256, device).mean(0) - fake.mean(0)).norm().item()}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
