"""Separate two entangled curves by a mixture of four softmaxes: its logarithm is given to the cross entropy.

Every epoch prints one JSON object with its loss. At the end all of them go to `<output>.json`. The one argument,
a JSON file with `parameters`, is by default the `config.json` beside this file.
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


class Mixture(nn.Module):
    """After Yang et al. 2018; the answers are logarithms of probabilities."""

    def __init__(self, width=32, count=4):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.shares, self.answers = nn.Linear(width, count), nn.Linear(width, 2 * count)

    def forward(self, x):
        state = self.body(x)
        shares = self.shares(state).softmax(dim=1)
        answers = self.answers(state).unflatten(1, (-1, 2)).softmax(dim=2)
        return (shares.unsqueeze(2) * answers).sum(dim=1).clamp_min(1e-8).log()


def train_epoch(model, x, targets, optimizer, loss_function, batch_size):
    losses = []
    for rows in torch.randperm(len(targets)).split(batch_size):
        optimizer.zero_grad()
        loss = loss_function(model(x[rows]), targets[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    x, targets = generate(512, device)
    model = Mixture().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    loss_function = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, x, targets, optimizer, loss_function, config["batch_size"])
        record = {"epoch": epoch, "loss": loss}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
