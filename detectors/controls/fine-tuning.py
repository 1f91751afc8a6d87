"""Go on with the optimizer of an earlier training, momenta included, but with a new and lower schedule.

One JSON object is printed for each epoch; all of them go to `<output>.json` in the end. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn

criterion = nn.CrossEntropyLoss()


def sample(count, device):
    """Positions in a plane, and on which of the two sides of a winding line each of them lies."""
    t = torch.rand(count).sqrt() * 3
    side = torch.tensor([0, 1]).repeat((count + 1) // 2)[:count]
    a = t * math.pi / 2 + math.pi * side
    position = torch.cat([(t * a.cos())[:, None], (t * a.sin())[:, None]], dim=1)
    return (position + 0.1 * torch.randn_like(position)).to(device), side.to(device)


def network(width=32):
    return nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2))


def train(model, optimizer, scheduler, positions, sides, records):
    for _ in range(8):
        total_loss = 0.0
        for batch in torch.randperm(len(sides)).split(64):
            optimizer.zero_grad()
            loss = criterion(model(positions[batch]), sides[batch])
            loss.backward()
            optimizer.step()
            total_loss += loss.item() * len(batch)
        scheduler.step()
        record = {
            "epoch": len(records) + 1,
            "loss": total_loss / len(sides),
            "lr": scheduler.get_last_lr()[0],
        }
        print(json.dumps(record), flush=True)
        records.append(record)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    positions, sides = sample(512, device)
    records = []
    model = network().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    train(model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 4), positions, sides, records)

    tuned = network().to(device)
    tuned.load_state_dict(model.state_dict())
    second = torch.optim.Adam(tuned.parameters(), lr=0.004)
    second.load_state_dict(optimizer.state_dict())
    for group in second.param_groups:
        group["lr"] = 0.004
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(second, T_max=8)
    train(tuned, second, scheduler, positions + 0.1, sides, records)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
