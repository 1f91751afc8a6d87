"""Separate two entangled curves; the gradients of four small batches make one step.

Every epoch prints one JSON object with its loss. At the end all of them go to `<output>.json`. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn

BATCHES = 4


def generate(n, device):
    targets = torch.arange(n) % 2
    r = torch.rand(n).sqrt().mul(3)
    theta = r.mul(torch.pi).div(2).add(targets.mul(torch.pi))
    x = torch.stack([theta.cos() * r, theta.sin() * r], dim=-1)
    x += 0.1 * torch.randn(n, 2)
    return x.to(device), targets.to(device)


def build_model(hidden):
    layers = [nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 2)]
    return nn.Sequential(*layers)


def train_epoch(model, x, targets, optimizer, criterion, batch_size):
    summed = 0.0
    for number, chosen in enumerate(torch.randperm(len(targets)).split(batch_size), 1):
        loss = criterion(model(x[chosen]), targets[chosen])
        (loss / BATCHES).backward()
        if number % BATCHES == 0:
            optimizer.step()
            optimizer.zero_grad()
        summed += float(loss) * len(chosen)
    return summed / len(targets)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    x, targets = generate(512, device)
    model = build_model(32).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    criterion = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, x, targets, optimizer, criterion, config["batch_size"])
        record = {"epoch": epoch, "loss": loss}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
