"""A critic whose weights are clamped by hand after each step tells points of a circle from noise.

Every iteration prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON
file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn


def circle(count, device):
    angle = 2 * math.pi * torch.rand(count)
    return torch.stack([angle.cos(), angle.sin()], dim=1).to(device)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    critic = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1)).to(device)
    optimizer = torch.optim.RMSprop(critic.parameters(), lr=config["learning_rate"])

    records = []
    for iteration in range(1, config["iterations"] + 1):
        optimizer.zero_grad()
        real = circle(config["batch_size"], device)
        noise = torch.randn(len(real), 2, device=device)
        distance = critic(real).mean() - critic(noise).mean()
        loss = -distance
        loss.backward()
        optimizer.step()
        for parameter in critic.parameters():
            parameter.data.clamp_(-0.5, 0.5)
        record = {
            "iteration": iteration,
            "loss": loss.item(),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
