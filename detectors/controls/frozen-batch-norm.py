"""A head is trained upon a body that has learnt already; its batch norm and dropout stay in evaluation mode.

Every epoch prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON file
with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional


def galaxy(stars, device):
    """Where stars are, shape (stars, 2), and the branch of each one, shape (stars,)."""
    branch = torch.arange(stars) % 2
    along = torch.rand(stars).sqrt() * 3
    direction = along * torch.pi / 2 + branch * torch.pi
    place = along.unsqueeze(1) * torch.stack([torch.cos(direction), torch.sin(direction)], dim=1)
    place = place + 0.1 * torch.randn(place.shape)
    return place.to(device), branch.to(device)


def train(model, parameters, stars, targets, epochs, learning_rate):
    """Yields the mean loss of each epoch."""
    optimizer = torch.optim.Adam(parameters, lr=learning_rate)
    for _ in range(epochs):
        model.train()
        running = 0.0
        for rows in torch.randperm(len(targets)).split(64):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(stars[rows]), targets[rows])
            loss.backward()
            optimizer.step()
            running += float(loss) * len(rows)
        yield running / len(targets)


class Probe(nn.Module):
    """A frozen body and a new head."""

    def __init__(self, body):
        super().__init__()
        self.body, self.head = body.requires_grad_(False), nn.Linear(64, 2)

    def train(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self

    def forward(self, stars):
        return self.head(self.body(stars))


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    stars, targets = galaxy(512, device)
    held_out, truth = galaxy(256, device)
    body = nn.Sequential(nn.Linear(2, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1))
    first = nn.Sequential(body, nn.Linear(64, 2)).to(device)
    epochs, learning_rate = config["num_epoch"], config["learning_rate"]
    list(train(first, first.parameters(), stars, targets, epochs, learning_rate))

    # The new task is another question about the same stars.
    targets, truth = (stars[:, 0] > 0).long(), (held_out[:, 0] > 0).long()
    model = Probe(body).to(device)
    records = []
    losses = train(model, model.head.parameters(), stars, targets, epochs, learning_rate)
    for epoch, loss in enumerate(losses, 1):
        model.eval()
        with torch.no_grad():
            record = {
                "epoch": epoch,
                "loss": loss,
                "validation": functional.cross_entropy(model(held_out), truth).item(),
            }
            print(json.dumps(record), flush=True)
            records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
