"""A compiled network is judged now and then, in evaluation mode, and put back into the mode in which it was before.

One JSON object is printed for each fifth step; all of them go to `<output>.json` in the end. The one argument, a
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


@torch.no_grad()
def validate(model, positions, sides):
    was_training = model.training
    model.eval()
    loss = functional.cross_entropy(model(positions), sides).item()
    model.train(was_training)
    return loss


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    positions, sides = sample(512, device)
    held_out, truth = sample(256, device)
    model = nn.Sequential(nn.Linear(2, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 2))
    model = torch.compile(model.to(device), backend="aot_eager")
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records, steps = [], 0
    model.train()
    for _ in range(config["num_epoch"]):
        for batch in torch.randperm(len(sides)).split(config["batch_size"]):
            optimizer.zero_grad()
            functional.cross_entropy(model(positions[batch]), sides[batch]).backward()
            optimizer.step()
            steps += 1
            if steps % 5 == 0:
                record = {
                    "step": steps,
                    "loss": validate(model, held_out, truth),
                }
                print(json.dumps(record), flush=True)
                records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
