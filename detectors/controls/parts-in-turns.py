"""Three parts of a network take turns, each with its own optimizer and rate, while the backward pass reaches all.

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


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    stars, targets = galaxy(512, device)
    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2)).to(device)
    optimizers = [
        torch.optim.Adam(model[0].parameters(), lr=config["learning_rate"]),
        torch.optim.Adam(model[2].parameters(), lr=0.01),
        torch.optim.SGD(model[4].parameters(), lr=0.1, momentum=0.9),
    ]

    records, turn = [], 0
    for epoch in range(1, config["num_epoch"] + 1):
        losses = []
        for batch in torch.randperm(len(targets)).split(config["batch_size"]):
            optimizer = optimizers[turn % 3]
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(stars[batch]), targets[batch])
            loss.backward()
            optimizer.step()
            turn += 1
            losses.append(loss.item())
        record = {"epoch": epoch, "loss": sum(losses) / len(losses)}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
