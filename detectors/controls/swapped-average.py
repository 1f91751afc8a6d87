"""Tell two interleaved arms apart; for the evaluation the weights are swapped for their moving average, and back.

One JSON object is printed for each epoch; all of them go to `<output>.json` in the end. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn

DECAY = 0.9


def make_data(size, device):
    arm = torch.arange(size).remainder(2)
    radius = torch.rand(size).sqrt() * 3
    phase = radius * math.pi / 2 + arm * math.pi
    curve = torch.stack((radius * torch.cos(phase), radius * torch.sin(phase)), 1)
    return (curve + torch.randn(size, 2) * 0.1).to(device), arm.to(device)


def network(width=32):
    return nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2))


@torch.no_grad()
def swap(model, average):
    for name, parameter in model.named_parameters():
        kept = parameter.clone()
        parameter.copy_(average[name])
        average[name].copy_(kept)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    inputs, labels = make_data(512, device)
    model = network().to(device)
    average = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])
    loss_function = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        for rows in torch.randperm(len(labels)).split(config["batch_size"]):
            optimizer.zero_grad()
            loss_function(model(inputs[rows]), labels[rows]).backward()
            optimizer.step()
            for name, parameter in model.named_parameters():
                average[name].lerp_(parameter.detach(), 1 - DECAY)
        swap(model, average)
        with torch.no_grad():
            record = {"epoch": epoch, "loss": loss_function(model(inputs), labels).item()}
            print(json.dumps(record), flush=True)
            records.append(record)
        swap(model, average)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
