"""Separate two entangled curves by a compiled step; the learning rate is halved after each 120 steps.

Every epoch prints one JSON object with loss and lr. At the end all of them go to `<output>.json`. The one
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
    torch.set_num_threads(1)
    x, targets = generate(512, device)
    model = mlp(32).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=120, gamma=0.5)
    loss_function = nn.CrossEntropyLoss()

    @torch.compile(backend="aot_eager")
    def step():
        optimizer.step()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        losses = []
        for rows in torch.randperm(len(targets)).split(config["batch_size"]):
            optimizer.zero_grad()
            loss = loss_function(model(x[rows]), targets[rows])
            loss.backward()
            step()
            scheduler.step()
            losses.append(loss.item())
        record = {
            "epoch": epoch,
            "loss": sum(losses) / len(losses),
            "lr": scheduler.get_last_lr()[0],
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
