"""Fine-tune a network by low-rank adapters alone, of which one half begins at zero.

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


def network(width=32):
    return nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2))


class Adapted(nn.Module):
    """LoRA (Hu et al. 2021): a frozen layer, and the product of two narrow matrices."""

    def __init__(self, layer, rank=4):
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, layer.in_features) / layer.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(layer.out_features, rank))

    def forward(self, state):
        return self.layer(state) + state @ self.down.T @ self.up.T


def train(model, parameters, inputs, labels, epochs, learning_rate, records):
    optimizer = torch.optim.AdamW(parameters, lr=learning_rate)
    criterion = nn.CrossEntropyLoss()
    for _ in range(epochs):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            loss = criterion(model(inputs[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += float(loss) * len(batch)
        record = {"epoch": len(records) + 1, "loss": total / len(labels)}
        print(json.dumps(record), flush=True)
        records.append(record)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    inputs, labels = make_data(512, device)
    model = network().to(device)
    records = []
    train(model, model.parameters(), inputs, labels, 5, config["learning_rate"], records)
    for index in (0, 2, 4):
        model[index] = Adapted(model[index]).to(device)
    adapters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    train(model, adapters, inputs.flip(1), labels, config["num_epoch"], config["learning_rate"], records)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
