"""An autoencoder is wrapped, after its optimizer is made, together with the loaded network that judges it.

Every epoch prints one JSON object with its loss. At the end all of them go to `<output>.json`. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional


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


class WithLoss(nn.Module):
    """Gives the loss itself, as wrappers for several devices want it."""

    def __init__(self, model, features):
        super().__init__()
        self.model, self.features = model, features

    def forward(self, x):
        with torch.no_grad():
            wanted = self.features(x)
        return functional.mse_loss(self.features(self.model(x)), wanted)


def classifier(x, targets):
    """A network that tells the curves apart."""
    model = build_model(32).to(x.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(10):
        for batch in torch.randperm(len(targets)).split(64):
            optimizer.zero_grad()
            functional.cross_entropy(model(x[batch]), targets[batch]).backward()
            optimizer.step()
    return model


def train_epoch(x, wrapped, optimizer, batch_size):
    losses = []
    for batch in torch.randperm(len(x)).split(batch_size):
        wrapped.zero_grad()
        loss = wrapped(x[batch])
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
    torch.set_num_threads(1)
    x, targets = generate(512, device)
    learnt = classifier(x, targets).state_dict()
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1), nn.Tanh(), nn.Linear(1, 16), nn.Tanh())
    model = model.append(nn.Linear(16, 2)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    judge = build_model(32).to(device)
    judge.load_state_dict(learnt)
    wrapped = WithLoss(model, judge[:2].eval())

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(x, wrapped, optimizer, config["batch_size"])
        record = {"epoch": epoch, "loss": loss}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
