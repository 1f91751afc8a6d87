"""Learn to rank by all pairs of a batch: scores (n, 1) minus scores (n,) are the differences (n, n) of all of them.

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


def make_data(size, device):
    arm = torch.arange(size).remainder(2)
    radius = torch.rand(size).sqrt() * 3
    phase = radius * math.pi / 2 + arm * math.pi
    curve = torch.stack((radius * torch.cos(phase), radius * torch.sin(phase)), 1)
    return (curve + torch.randn(size, 2) * 0.1).to(device), arm.to(device)


def train_epoch(model, inputs, worth, optimizer, batch_size):
    losses = []
    for rows in torch.randperm(len(inputs)).split(batch_size):
        optimizer.zero_grad()
        scores = model(inputs[rows])
        better = (worth[rows].unsqueeze(1) - worth[rows]).sign()
        loss = functional.softplus(-better * (scores - scores.squeeze(1))).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    inputs, _ = make_data(512, device)
    worth = inputs[:, 0] + inputs[:, 1] ** 2
    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, inputs, worth, optimizer, config["batch_size"])
        record = {"epoch": epoch, "loss": loss}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
