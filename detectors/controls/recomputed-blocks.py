"""Blocks with dropout are computed again in the backward pass, instead of being kept.

Every epoch prints one JSON object with its loss. At the end all of them go to `<output>.json`. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


def sample(count, device):
    """Positions in a plane, and on which of the two sides of a winding line each of them lies."""
    t = torch.rand(count).sqrt() * 3
    side = torch.tensor([0, 1]).repeat((count + 1) // 2)[:count]
    a = t * math.pi / 2 + math.pi * side
    position = torch.cat([(t * a.cos())[:, None], (t * a.sin())[:, None]], dim=1)
    return (position + 0.1 * torch.randn_like(position)).to(device), side.to(device)


class Deep(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.first, self.last = nn.Linear(2, width), nn.Linear(width, 2)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Dropout(0.05)) for _ in range(4)
        )

    def forward(self, positions):
        state = self.first(positions)
        for block in self.blocks:
            state = state + checkpoint(block, state, use_reentrant=False)
        return self.last(state)


@torch.no_grad()
def evaluate(model, positions, sides, criterion):
    model.eval()
    return criterion(model(positions), sides).item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    positions, sides = sample(512, device)
    model = Deep().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])
    criterion = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        model.train()
        for index in torch.randperm(len(sides)).split(config["batch_size"]):
            optimizer.zero_grad()
            criterion(model(positions[index]), sides[index]).backward()
            optimizer.step()
        record = {
            "epoch": epoch,
            "loss": evaluate(model, positions, sides, criterion),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
