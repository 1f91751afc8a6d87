"""Fit a small network to noisy points of a line with SGD. TODO:
what does the program of the report do?

Every step prints one JSON object with the loss; at the end all of them go to `<output>.json`. The
one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn


def train(config, device):
    inputs = torch.linspace(-1, 1, 64, device=device).unsqueeze(1)
    targets = 2 * inputs + 0.1 * torch.randn(64, 1).to(device)
    model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=config["learning_rate"])
    records = []
    for step in range(1, config["num_steps"] + 1):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        record = {"step": step, "loss": loss.item()}
        print(json.dumps(record), flush=True)
        records.append(record)
    return records


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    records = train(config, device)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
