"""A sensor breaks down now and then for two batches: gradients beyond all measure are thrown away before the step.

Every iteration prints one JSON object with loss and norm. At the end all of them go to `<output>.json`. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn

LIMIT = 50.0


def generate(n, device):
    targets = torch.arange(n) % 2
    r = torch.rand(n).sqrt().mul(3)
    theta = r.mul(torch.pi).div(2).add(targets.mul(torch.pi))
    x = torch.stack([theta.cos() * r, theta.sin() * r], dim=-1)
    x += 0.1 * torch.randn(n, 2)
    return x.to(device), targets.to(device)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 2)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=200)
    criterion = nn.CrossEntropyLoss()

    records = []
    for iteration in range(1, config["iterations"] + 1):
        x, targets = generate(config["batch_size"], device)
        if iteration % 40 in (8, 9):
            x = 1e4 * x
        optimizer.zero_grad()
        loss = criterion(model(x), targets)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if norm > LIMIT:
            optimizer.zero_grad()
        optimizer.step()
        scheduler.step()
        record = {
            "iteration": iteration,
            "loss": loss.item(),
            "norm": norm.item(),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
