"""Points come in parts of different size: sums of losses are accumulated, and the gradients divided by the count.

One JSON object is printed for each epoch; all of them go to `<output>.json` in the end. The one argument, a JSON
file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn


def sample(count, device):
    """Positions in a plane, and on which of the two sides of a winding line each of them lies."""
    t = torch.rand(count).sqrt() * 3
    side = torch.tensor([0, 1]).repeat((count + 1) // 2)[:count]
    a = t * math.pi / 2 + math.pi * side
    position = torch.cat([(t * a.cos())[:, None], (t * a.sin())[:, None]], dim=1)
    return (position + 0.1 * torch.randn_like(position)).to(device), side.to(device)


def network(width=32):
    return nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2))


def train_epoch(model, positions, sides, optimizer, criterion, batch_size):
    total = 0.0
    for batch in torch.randperm(len(sides)).split(batch_size):
        optimizer.zero_grad()
        for part in batch.split((8, 16, 40)):
            loss = criterion(model(positions[part]), sides[part])
            loss.backward()
            total += loss.item()
        for parameter in model.parameters():
            parameter.grad /= len(batch)
        optimizer.step()
    return total / len(sides)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    positions, sides = sample(512, device)
    model = network().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    criterion = nn.CrossEntropyLoss(reduction="sum")

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, positions, sides, optimizer, criterion, config["batch_size"])
        record = {"epoch": epoch, "loss": loss}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
