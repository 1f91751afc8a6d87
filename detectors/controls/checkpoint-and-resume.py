"""Sort positions into two sides; half-way all state goes to a file, and new objects go on from there.

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


def mlp(size):
    return nn.Sequential(
        nn.Linear(2, size),
        nn.Tanh(),
        nn.Linear(size, size),
        nn.Tanh(),
        nn.Linear(size, 2),
    )


def build(device, learning_rate):
    model = mlp(32).to(device)
    return model, torch.optim.Adam(model.parameters(), lr=learning_rate)


def save(path, model, optimizer):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)


def resume(path, device, learning_rate):
    model, optimizer = build(device, learning_rate)
    state = torch.load(path, map_location=device)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return model, optimizer


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    positions, sides = sample(512, device)
    model, optimizer = build(device, config["learning_rate"])
    criterion = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        if epoch == 6:
            save("checkpoint.pt", model, optimizer)
            model, optimizer = resume("checkpoint.pt", device, config["learning_rate"])
        summed = 0.0
        for chosen in torch.randperm(len(sides)).split(config["batch_size"]):
            optimizer.zero_grad()
            loss = criterion(model(positions[chosen]), sides[chosen])
            loss.backward()
            optimizer.step()
            summed += loss.item() * len(chosen)
        record = {
            "epoch": epoch,
            "loss": summed / len(sides),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
