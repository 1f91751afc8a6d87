"""Sort stars of a galaxy by branch with residual blocks that are skipped at random, and scaled in evaluation.

Every epoch prints one JSON object with its loss. At the end all of them go to `<output>.json`. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn

KEPT = 0.8


def galaxy(stars, device):
    """Where stars are, shape (stars, 2), and the branch of each one, shape (stars,)."""
    branch = torch.arange(stars) % 2
    along = torch.rand(stars).sqrt() * 3
    direction = along * torch.pi / 2 + branch * torch.pi
    place = along.unsqueeze(1) * torch.stack([torch.cos(direction), torch.sin(direction)], dim=1)
    place = place + 0.1 * torch.randn(place.shape)
    return place.to(device), branch.to(device)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))

    def forward(self, state):
        if not self.training:
            return state + KEPT * self.inner(state)
        return state + self.inner(state) if torch.rand(()) < KEPT else state


@torch.no_grad()
def evaluate(model, stars, targets, criterion):
    model.eval()
    return criterion(model(stars), targets).item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    stars, targets = galaxy(512, device)
    model = nn.Sequential(nn.Linear(2, 32), *(Block(32) for _ in range(4)), nn.Linear(32, 2)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    criterion = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        model.train()
        for index in torch.randperm(len(targets)).split(config["batch_size"]):
            optimizer.zero_grad()
            criterion(model(stars[index]), targets[index]).backward()
            optimizer.step()
        record = {
            "epoch": epoch,
            "loss": evaluate(model, stars, targets, criterion),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
