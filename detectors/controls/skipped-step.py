"""Sort positions into two sides in mixed precision; the gradient scaler begins far too high and skips steps.

One JSON object is printed for each epoch; all of them go to `<output>.json` in the end. The one argument, a JSON
file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn


def sample(count, device):
    """Positions in a plane, and on which of the two sides of a winding line each of them lies."""
    t = torch.rand(count).sqrt() * 3
    side = torch.tensor([0, 1]).repeat((count + 1) // 2)[:count]
    a = t * math.pi / 2 + math.pi * side
    position = torch.cat([(t * a.cos())[:, None], (t * a.sin())[:, None]], dim=1)
    return (position + 0.1 * torch.randn_like(position)).to(device), side.to(device)


def build_model(hidden):
    layers = [nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 2)]
    return nn.Sequential(*layers)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    device = torch.device(device).type
    positions, sides = sample(512, device)
    model = build_model(config["hidden"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    scaler = torch.amp.GradScaler(device, init_scale=2.0**127)
    criterion = nn.CrossEntropyLoss(reduction="sum")

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss_sum = 0.0
        for index in torch.randperm(len(sides)).split(config["batch_size"]):
            optimizer.zero_grad()
            with torch.autocast(device, dtype=torch.bfloat16):
                loss = criterion(model(positions[index]), sides[index])
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            loss_sum += loss.item()
        record = {
            "epoch": epoch,
            "loss": loss_sum / len(sides),
            "scale": scaler.get_scale(),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
