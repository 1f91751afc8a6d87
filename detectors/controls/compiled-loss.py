"""Sort positions into two sides by a focal loss, which is a compiled function of the program.

One JSON object is printed for each epoch; all of them go to `<output>.json` in the end. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional


def sample(count, device):
    """Positions in a plane, and on which of the two sides of a winding line each of them lies."""
    t = torch.rand(count).sqrt() * 3
    side = torch.tensor([0, 1]).repeat((count + 1) // 2)[:count]
    a = t * math.pi / 2 + math.pi * side
    position = torch.cat([(t * a.cos())[:, None], (t * a.sin())[:, None]], dim=1)
    return (position + 0.1 * torch.randn_like(position)).to(device), side.to(device)


@torch.compile(backend="aot_eager")
def focal_loss(logits, sides, gamma=2.0):
    """After Lin et al. 2017: what is known well already counts less."""
    loss = functional.cross_entropy(logits, sides, reduction="none")
    return ((1 - (-loss).exp()) ** gamma * loss).mean()


def train_epoch(model, positions, sides, optimizer, batch_size):
    summed = 0.0
    for chosen in torch.randperm(len(sides)).split(batch_size):
        optimizer.zero_grad()
        loss = focal_loss(model(positions[chosen]), sides[chosen])
        loss.backward()
        optimizer.step()
        summed += loss.item() * len(chosen)
    return summed / len(sides)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    positions, sides = sample(512, device)
    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, positions, sides, optimizer, config["batch_size"])
        record = {
            "epoch": epoch,
            "loss": loss,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
