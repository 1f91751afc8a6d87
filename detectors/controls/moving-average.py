"""Tell samples of two coils apart; a copy of the network follows its parameters as a moving average.

Every epoch prints one JSON object with its loss. At the end all of them go to `<output>.json`. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import copy
import json
import math
import sys
from pathlib import Path

import torch
from torch import nn

DECAY = 0.9


def draw(number, device):
    """Noisy samples of two coils, shape (number, 2), and the number of the coil, shape (number,)."""
    coil = torch.arange(number) % 2
    distance = 3 * torch.sqrt(torch.rand(number))
    turned = math.pi * coil + distance * math.pi / 2
    x, y = distance * turned.cos(), distance * turned.sin()
    noise = 0.1 * torch.randn(number, 2)
    return (torch.column_stack([x, y]) + noise).to(device), coil.to(device)


def network(width=32):
    return nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2))


@torch.no_grad()
def follow(average, model):
    for mean, parameter in zip(average.parameters(), model.parameters(), strict=True):
        mean.lerp_(parameter, 1 - DECAY)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    samples, classes = draw(512, device)
    model = network().to(device)
    average = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    loss_function = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        for rows in torch.randperm(len(classes)).split(config["batch_size"]):
            optimizer.zero_grad()
            loss_function(model(samples[rows]), classes[rows]).backward()
            optimizer.step()
            follow(average, model)
        record = {
            "epoch": epoch,
            "loss": loss_function(average(samples), classes).item(),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
