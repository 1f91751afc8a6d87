"""Separate two entangled curves with LBFGS, which asks for loss and gradients as often as it likes.

Every iteration prints one JSON object with its loss. At the end all of them go to `<output>.json`. The one
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
    optimizer = torch.optim.LBFGS(
        model.parameters(), lr=config["learning_rate"], max_iter=5, line_search_fn="strong_wolfe"
    )
    criterion = nn.CrossEntropyLoss()

    def closure():
        optimizer.zero_grad()
        loss = criterion(model(x), targets)
        loss.backward()
        return loss

    records = []
    for iteration in range(1, config["iterations"] + 1):
        record = {
            "iteration": iteration,
            "loss": optimizer.step(closure).item(),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
