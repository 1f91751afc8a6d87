"""Predict nine quantiles of a noisy curve: predictions (n, 9) are compared with targets (n, 1).

One JSON object is printed for each epoch; all of them go to `<output>.json` in the end. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn


def train_epoch(model, target, place, levels, optimizer, batch_size):
    summed = 0.0
    for chosen in torch.randperm(len(place)).split(batch_size):
        optimizer.zero_grad()
        error = target[chosen] - model(place[chosen])
        loss = torch.maximum(levels * error, (levels - 1) * error).mean()
        loss.backward()
        optimizer.step()
        summed += loss.item() * len(chosen)
    return summed / len(place)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    place = 4 * torch.rand(512, 1, device=device) - 2
    target = place.sin() + 0.05 * (1 + place.abs()) * torch.randn(512, 1, device=device)
    levels = torch.linspace(0.1, 0.9, 9, device=device)
    model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 9)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, target, place, levels, optimizer, config["batch_size"])
        record = {"epoch": epoch, "loss": loss}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
