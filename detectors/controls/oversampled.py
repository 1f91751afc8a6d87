"""One of ten points is of the second curve; a sampler draws both as often, so that workers load rare points again.

Every epoch prints one JSON object with its loss. At the end all of them go to `<output>.json`. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


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
    torch.set_num_threads(1)
    x, targets = generate(1024, "cpu")
    kept = (targets == 0) | (torch.rand(len(targets)) < 0.1)
    x, targets = x[kept], targets[kept]
    weights = 1 / targets.bincount()[targets]
    sampler = WeightedRandomSampler(weights, num_samples=len(targets))
    loader = DataLoader(TensorDataset(x, targets), batch_size=config["batch_size"], sampler=sampler, num_workers=2)
    width = config["width"]
    model = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2)).to(
        device
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    criterion = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        total = 0.0
        for batch, truth in loader:
            optimizer.zero_grad()
            loss = criterion(model(batch.to(device)), truth.to(device))
            loss.backward()
            optimizer.step()
            total += float(loss) * len(batch)
        record = {
            "epoch": epoch,
            "loss": total / len(sampler),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
