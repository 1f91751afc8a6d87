"""Tell two interleaved arms apart; the learning rate falls twice, and from there by a cosine for a second phase.

One JSON object is printed for each epoch; all of them go to `<output>.json` in the end. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, StepLR


def make_data(size, device):
    arm = torch.arange(size).remainder(2)
    radius = torch.rand(size).sqrt() * 3
    phase = radius * math.pi / 2 + arm * math.pi
    curve = torch.stack((radius * torch.cos(phase), radius * torch.sin(phase)), 1)
    return (curve + torch.randn(size, 2) * 0.1).to(device), arm.to(device)


def network(width=32):
    return nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2))


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    inputs, labels = make_data(512, device)
    model = network().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=config["learning_rate"], momentum=0.9)
    scheduler = StepLR(optimizer, step_size=4, gamma=0.5)
    loss_function = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        if epoch == 9:
            scheduler = CosineAnnealingLR(optimizer, T_max=10)
        running = 0.0
        for rows in torch.randperm(len(labels)).split(config["batch_size"]):
            optimizer.zero_grad()
            loss = loss_function(model(inputs[rows]), labels[rows])
            loss.backward()
            optimizer.step()
            running += loss.item() * len(rows)
        scheduler.step()
        record = {
            "epoch": epoch,
            "loss": running / len(labels),
            "lr": scheduler.get_last_lr()[0],
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
