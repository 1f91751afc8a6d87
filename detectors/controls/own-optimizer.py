"""Sort positions into two sides with an optimizer of one's own: the sign of a moving mean of gradients.

One JSON object is printed for each epoch; all of them go to `<output>.json` in the end. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
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


class SignMean(torch.optim.Optimizer):
    """After Lion (Chen et al. 2023): the step has the same size for every number, and decays the weights."""

    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.99), decay=0.01):
        super().__init__(parameters, {"lr": lr, "betas": betas, "decay": decay})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            (fast, slow), lr = group["betas"], group["lr"]
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                mean = self.state[parameter].setdefault("mean", torch.zeros_like(parameter))
                parameter.mul_(1 - lr * group["decay"])
                parameter.sub_(lr * mean.lerp(parameter.grad, 1 - fast).sign())
                mean.lerp_(parameter.grad, 1 - slow)
        return loss


def train_epoch(model, positions, sides, optimizer, criterion, batch_size):
    total = 0.0
    for batch in torch.randperm(len(sides)).split(batch_size):
        optimizer.zero_grad()
        loss = criterion(model(positions[batch]), sides[batch])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(sides)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    positions, sides = sample(512, device)
    model = build_model(config["hidden"]).to(device)
    optimizer = SignMean(model.parameters(), lr=config["learning_rate"])
    criterion = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, positions, sides, optimizer, criterion, config["batch_size"])
        record = {
            "epoch": epoch,
            "loss": loss,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
