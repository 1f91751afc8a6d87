"""Tell two interleaved arms apart; gradients are clipped by hand, and noise is added to them, before each step.

One JSON object is printed for each epoch; all of them go to `<output>.json` in the end. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn


def make_data(size, device):
    arm = torch.arange(size).remainder(2)
    radius = torch.rand(size).sqrt() * 3
    phase = radius * math.pi / 2 + arm * math.pi
    curve = torch.stack((radius * torch.cos(phase), radius * torch.sin(phase)), 1)
    return (curve + torch.randn(size, 2) * 0.1).to(device), arm.to(device)


def build_model(hidden):
    layers = [nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 2)]
    return nn.Sequential(*layers)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    inputs, labels = make_data(512, device)
    model = build_model(config["hidden"]).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=config["learning_rate"], momentum=0.9, nesterov=True)
    criterion = nn.CrossEntropyLoss()

    records, steps = [], 0
    for epoch in range(1, config["num_epoch"] + 1):
        loss_sum = 0.0
        for index in torch.randperm(len(labels)).split(config["batch_size"]):
            optimizer.zero_grad()
            loss = criterion(model(inputs[index]), labels[index])
            loss.backward()
            steps += 1
            for parameter in model.parameters():
                parameter.grad.clamp_(-1, 1).add_(0.05 / steps**0.55 * torch.randn_like(parameter))
            optimizer.step()
            loss_sum += loss.item() * len(index)
        record = {"epoch": epoch, "loss": loss_sum / len(labels)}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
