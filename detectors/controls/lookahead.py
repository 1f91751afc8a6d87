"""Sort positions into two sides; every fifth step slow weights go half the way, and the fast ones begin there anew.

Every epoch prints one JSON object with its loss. At the end all of them go to `<output>.json`. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
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


def mlp(size):
    return nn.Sequential(
        nn.Linear(2, size),
        nn.Tanh(),
        nn.Linear(size, size),
        nn.Tanh(),
        nn.Linear(size, 2),
    )


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    positions, sides = sample(512, device)
    model = mlp(32).to(device)
    slow = [parameter.detach().clone() for parameter in model.parameters()]
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records, steps = [], 0
    for epoch in range(1, config["num_epoch"] + 1):
        losses = []
        for chosen in torch.randperm(len(sides)).split(config["batch_size"]):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(positions[chosen]), sides[chosen])
            loss.backward()
            optimizer.step()
            steps += 1
            if steps % 5 == 0:
                with torch.no_grad():
                    for kept, parameter in zip(slow, model.parameters(), strict=True):
                        kept.lerp_(parameter, 0.5)
                        parameter.copy_(kept)
            losses.append(loss.item())
        record = {
            "epoch": epoch,
            "loss": sum(losses) / len(losses),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
