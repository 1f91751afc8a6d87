"""Sort stars of a galaxy by branch; the loop sets gradients to None itself.

Every epoch prints one JSON object with its loss. At the end all of them go to `<output>.json`. The one argument,
a JSON file with `parameters`, is by default the `config.json` beside this file.
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


def build_model(hidden):
    layers = [nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 2)]
    return nn.Sequential(*layers)


def train_epoch(model, stars, targets, optimizer, batch_size):
    losses = []
    for index in torch.randperm(len(targets)).split(batch_size):
        for parameter in model.parameters():
            parameter.grad = None
        loss = functional.cross_entropy(model(stars[index]), targets[index])
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
    stars, targets = galaxy(512, device)
    model = build_model(32).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, stars, targets, optimizer, config["batch_size"])
        record = {
            "epoch": epoch,
            "loss": loss,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
