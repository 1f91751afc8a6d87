"""Tell two interleaved arms apart; gradients are filled with zeros after each step.

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


def train_epoch(model, inputs, labels, optimizer, loss_function, batch_size):
    running = 0.0
    for rows in torch.randperm(len(labels)).split(batch_size):
        loss = loss_function(model(inputs[rows]), labels[rows])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
        running += float(loss) * len(rows)
    return running / len(labels)


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
    optimizer = torch.optim.SGD(model.parameters(), lr=config["learning_rate"], momentum=0.9)
    loss_function = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, inputs, labels, optimizer, loss_function, config["batch_size"])
        record = {"epoch": epoch, "loss": loss}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
