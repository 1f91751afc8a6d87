"""Tell two interleaved arms apart in a fixed order from easy to hard, of which every epoch takes a larger part.

One JSON object is printed for each epoch; all of them go to `<output>.json` in the end. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset


def make_data(size, device):
    arm = torch.arange(size).remainder(2)
    radius = torch.rand(size).sqrt() * 3
    phase = radius * math.pi / 2 + arm * math.pi
    curve = torch.stack((radius * torch.cos(phase), radius * torch.sin(phase)), 1)
    return (curve + torch.randn(size, 2) * 0.1).to(device), arm.to(device)


def network(width=32):
    return nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2))


class EasyFirst(Sampler):
    def __init__(self, order):
        self.order, self.share = order, 0.3

    def __iter__(self):
        return iter(self.order[: len(self)])

    def __len__(self):
        return int(self.share * len(self.order))


def train_epoch(model, loader, device, sampler, optimizer, criterion):
    total = 0.0
    for batch, truth in loader:
        batch, truth = batch.to(device), truth.to(device)
        optimizer.zero_grad()
        loss = criterion(model(batch), truth)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(sampler)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    inputs, labels = make_data(512, device)
    sampler = EasyFirst(inputs.norm(dim=1).argsort().tolist())
    loader = DataLoader(
        TensorDataset(inputs.cpu(), labels.cpu()), batch_size=config["batch_size"], sampler=sampler, num_workers=2
    )
    model = network().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    criterion = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        sampler.share = min(1.0, 0.1 + epoch / 5)
        loss = train_epoch(model, loader, device, sampler, optimizer, criterion)
        record = {
            "epoch": epoch,
            "loss": loss,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
