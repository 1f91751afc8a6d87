"""Embed samples so that two noisy views of one are near: all pairs of a batch are compared, by broadcasting.

Every epoch prints one JSON object with its loss. At the end all of them go to `<output>.json`. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional


def draw(number, device):
    """Noisy samples of two coils, shape (number, 2), and the number of the coil, shape (number,)."""
    coil = torch.arange(number) % 2
    distance = 3 * torch.sqrt(torch.rand(number))
    turned = math.pi * coil + distance * math.pi / 2
    x, y = distance * turned.cos(), distance * turned.sin()
    noise = 0.1 * torch.randn(number, 2)
    return (torch.column_stack([x, y]) + noise).to(device), coil.to(device)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    samples, _ = draw(512, device)
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 8)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        losses = []
        for index in torch.randperm(len(samples)).split(config["batch_size"]):
            one, two = (samples[index] + 0.05 * torch.randn_like(samples[index]) for _ in range(2))
            optimizer.zero_grad()
            left, right = model(one), model(two)
            distances = (left.unsqueeze(1) - right.unsqueeze(0)).square().sum(dim=2)
            loss = functional.cross_entropy(-distances, torch.arange(len(index), device=samples.device))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        record = {"epoch": epoch, "loss": sum(losses) / len(losses)}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
