"""Tell samples of two coils apart by sharpness-aware minimisation: up to the worst neighbour, back, and a step.

Every epoch prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON file
with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

RADIUS = 0.05


def draw(number, device):
    """Noisy samples of two coils, shape (number, 2), and the number of the coil, shape (number,)."""
    coil = torch.arange(number) % 2
    distance = 3 * torch.sqrt(torch.rand(number))
    turned = math.pi * coil + distance * math.pi / 2
    x, y = distance * turned.cos(), distance * turned.sin()
    noise = 0.1 * torch.randn(number, 2)
    return (torch.column_stack([x, y]) + noise).to(device), coil.to(device)


def build_model(hidden):
    layers = [nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 2)]
    return nn.Sequential(*layers)


@torch.no_grad()
def climb(parameters):
    """Move to the worst point near by; returns the way."""
    norm = torch.stack([parameter.grad.norm() for parameter in parameters]).norm()
    way = [RADIUS / (norm + 1e-12) * parameter.grad for parameter in parameters]
    for parameter, part in zip(parameters, way, strict=True):
        parameter.add_(part)
    return way


def train_epoch(model, samples, classes, parameters, optimizer, batch_size):
    losses = []
    for chosen in torch.randperm(len(classes)).split(batch_size):
        loss = functional.cross_entropy(model(samples[chosen]), classes[chosen])
        loss.backward()
        way = climb(parameters)
        optimizer.zero_grad()
        functional.cross_entropy(model(samples[chosen]), classes[chosen]).backward()
        with torch.no_grad():
            for parameter, part in zip(parameters, way, strict=True):
                parameter.sub_(part)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return sum(losses) / len(losses)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    samples, classes = draw(512, device)
    model = build_model(config["hidden"]).to(device)
    parameters = list(model.parameters())
    optimizer = torch.optim.SGD(parameters, lr=config["learning_rate"], momentum=0.9)

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, samples, classes, parameters, optimizer, config["batch_size"])
        record = {
            "epoch": epoch,
            "loss": loss,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
