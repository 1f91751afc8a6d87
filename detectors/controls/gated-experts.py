"""A mixture of experts by a field of the data: two of the six places it may name are not open yet.

Every epoch prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

PLACES, OPEN = 6, 4


def draw(number, device):
    """Noisy samples of two coils, shape (number, 2), and the number of the coil, shape (number,)."""
    coil = torch.arange(number) % 2
    distance = 3 * torch.sqrt(torch.rand(number))
    turned = math.pi * coil + distance * math.pi / 2
    x, y = distance * turned.cos(), distance * turned.sin()
    noise = 0.1 * torch.randn(number, 2)
    return (torch.column_stack([x, y]) + noise).to(device), coil.to(device)


class Mixture(nn.Module):
    """A common body, and a head for each place."""

    def __init__(self, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.experts = nn.ModuleList(nn.Linear(width, 2) for _ in range(PLACES))

    def forward(self, samples, place):
        state = self.body(samples)
        answers = torch.stack([expert(state) for expert in self.experts], dim=1)
        return answers[torch.arange(len(place)), place]


def train_epoch(model, samples, classes, place, optimizer, batch_size):
    losses = []
    for chosen in torch.randperm(len(classes)).split(batch_size):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(samples[chosen], place[chosen]), classes[chosen])
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
    samples, classes = draw(512, device)
    place = torch.randint(OPEN, (len(classes),))
    # Each place names the two coils in its own way.
    classes = (classes + place.to(classes.device)) % 2
    model = Mixture().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, samples, classes, place, optimizer, config["batch_size"])
        record = {
            "epoch": epoch,
            "loss": loss,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
