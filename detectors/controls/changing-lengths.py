"""A compiled network whose last batch is shorter than the others, and whose learning rate falls.

Every epoch prints one JSON object with its loss. At the end all of them go to `<output>.json`. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn


def generate(n, device):
    targets = torch.arange(n) % 2
    r = torch.rand(n).sqrt().mul(3)
    theta = r.mul(torch.pi).div(2).add(targets.mul(torch.pi))
    x = torch.stack([theta.cos() * r, theta.sin() * r], dim=-1)
    x += 0.1 * torch.randn(n, 2)
    return x.to(device), targets.to(device)


@torch.no_grad()
def evaluate(model, x, targets, criterion):
    model.eval()
    return criterion(model(x), targets).item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    x, targets = generate(500, device)
    width = config["width"]
    model = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2)).to(
        device
    )
    compiled = torch.compile(model, backend="aot_eager")
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    criterion = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        compiled.train()
        for batch in torch.randperm(len(targets)).split(config["batch_size"]):
            optimizer.zero_grad()
            criterion(compiled(x[batch]), targets[batch]).backward()
            optimizer.step()
        scheduler.step()
        record = {
            "epoch": epoch,
            "loss": evaluate(compiled, x, targets, criterion),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
