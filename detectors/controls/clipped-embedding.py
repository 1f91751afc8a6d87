"""Gradients of an embedding are clipped, where there is one: here the inputs go into the body as they are.

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


class Classifier(nn.Module):
    def __init__(self, embedding=0, width=32):
        super().__init__()
        self.pre = nn.Linear(2, embedding) if embedding else nn.Identity()
        self.body = nn.Sequential(nn.Linear(embedding or 2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.head = nn.Linear(width, 2)

    def forward(self, inputs):
        return self.head(self.body(self.pre(inputs)))


def train_epoch(model, inputs, labels, optimizer, criterion, batch_size):
    summed = 0.0
    for chosen in torch.randperm(len(labels)).split(batch_size):
        optimizer.zero_grad()
        loss = criterion(model(inputs[chosen]), labels[chosen])
        loss.backward()
        nn.utils.clip_grad_norm_(model.pre.parameters(), 0.1)
        optimizer.step()
        summed += float(loss) * len(chosen)
    return summed / len(labels)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    inputs, labels = make_data(512, device)
    model = Classifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    criterion = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, inputs, labels, optimizer, criterion, config["batch_size"])
        record = {"epoch": epoch, "loss": loss}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
