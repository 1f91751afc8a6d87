"""Tell two interleaved arms apart; batch norm and dropout are switched off for the last four epochs.

One JSON object is printed for each epoch; all of them go to `<output>.json` in the end. The one argument, a JSON
file with `parameters`, is by default the `config.json` beside this file.
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


@torch.no_grad()
def evaluate(model, inputs, labels, criterion):
    model.eval()
    return criterion(model(inputs), labels).item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    inputs, labels = make_data(512, device)
    model = nn.Sequential(nn.Linear(2, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 2))
    model = model.to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    criterion = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        model.train()
        if epoch > 8:
            for layer in (model[1], model[3]):
                layer.eval()
        for chosen in torch.randperm(len(labels)).split(config["batch_size"]):
            optimizer.zero_grad()
            criterion(model(inputs[chosen]), labels[chosen]).backward()
            optimizer.step()
        record = {"epoch": epoch, "loss": evaluate(model, inputs, labels, criterion)}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
