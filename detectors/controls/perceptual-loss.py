"""An autoencoder is judged by the features of a loaded network, in evaluation mode, through which gradients pass.

One JSON object is printed for each epoch; all of them go to `<output>.json` in the end. The one argument, a JSON
file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional


def make_data(size, device):
    arm = torch.arange(size).remainder(2)
    radius = torch.rand(size).sqrt() * 3
    phase = radius * math.pi / 2 + arm * math.pi
    curve = torch.stack((radius * torch.cos(phase), radius * torch.sin(phase)), 1)
    return (curve + torch.randn(size, 2) * 0.1).to(device), arm.to(device)


def build_model(hidden):
    layers = [nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 2)]
    return nn.Sequential(*layers)


def classifier(inputs, labels):
    """A network that tells the arms apart."""
    model = build_model(32).to(inputs.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(10):
        for rows in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            functional.cross_entropy(model(inputs[rows]), labels[rows]).backward()
            optimizer.step()
    return model


def train_epoch(model, inputs, features, optimizer, batch_size):
    running = 0.0
    for rows in torch.randperm(len(inputs)).split(batch_size):
        with torch.no_grad():
            wanted = features(inputs[rows])
        optimizer.zero_grad()
        loss = functional.mse_loss(features(model(inputs[rows])), wanted)
        loss.backward()
        optimizer.step()
        running += float(loss) * len(rows)
    return running / len(inputs)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    inputs, labels = make_data(512, device)
    features = build_model(config["hidden"]).to(device)
    features.load_state_dict(classifier(inputs, labels).state_dict())
    features = features[:2].eval().requires_grad_(False)
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1), nn.Tanh(), nn.Linear(1, 16), nn.Tanh())
    model = model.append(nn.Linear(16, 2)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, inputs, features, optimizer, config["batch_size"])
        record = {
            "epoch": epoch,
            "loss": loss,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
