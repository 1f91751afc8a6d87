"""Each part of a model is clipped by itself; the first one has no parameters, as the inputs need no embedding here.

Every epoch prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn


def draw(number, device):
    """Noisy samples of two coils, shape (number, 2), and the number of the coil, shape (number,)."""
    coil = torch.arange(number) % 2
    distance = 3 * torch.sqrt(torch.rand(number))
    turned = math.pi * coil + distance * math.pi / 2
    x, y = distance * turned.cos(), distance * turned.sin()
    noise = 0.1 * torch.randn(number, 2)
    return (torch.column_stack([x, y]) + noise).to(device), coil.to(device)


class Classifier(nn.Module):
    def __init__(self, embedding=0, width=32):
        super().__init__()
        self.pre = nn.Linear(2, embedding) if embedding else nn.Identity()
        self.body = nn.Sequential(nn.Linear(embedding or 2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.head = nn.Linear(width, 2)

    def forward(self, samples):
        return self.head(self.body(self.pre(samples)))


def train_epoch(model, samples, classes, optimizer, criterion, batch_size):
    losses = []
    for batch in torch.randperm(len(classes)).split(batch_size):
        optimizer.zero_grad()
        loss = criterion(model(samples[batch]), classes[batch])
        loss.backward()
        for part in (model.pre, model.body, model.head):
            nn.utils.clip_grad_norm_(part.parameters(), 0.1)
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
    samples, classes = draw(512, device)
    model = Classifier().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    criterion = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, samples, classes, optimizer, criterion, config["batch_size"])
        record = {
            "epoch": epoch,
            "loss": loss,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
