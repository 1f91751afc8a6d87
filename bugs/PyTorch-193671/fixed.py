"""Fit a network with one wide layer to a made function; the wide layer's activations are computed again in backward.

The activation is a randomised leaky ReLU. Every step prints one JSON object with the loss; at the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self, inputs, hidden, width):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh())
        self.wide = nn.Sequential(nn.Linear(hidden, width), nn.RReLU())
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        x = self.encoder(x)
        x = checkpoint(self.wide, x, use_reentrant=False, early_stop=False)
        return self.head(x).squeeze(1)


def samples(number, inputs, device):
    """Random inputs; the target depends on one direction among them."""
    direction = nn.functional.normalize(torch.randn(inputs), dim=0)
    x = torch.randn(number, inputs)
    return x.to(device), torch.tanh(2 * x @ direction).to(device)


def train(config, device):
    x, y = samples(config["samples"], config["inputs"], device)
    model = Net(config["inputs"], config["hidden"], config["width"]).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=config["learning_rate"], momentum=0.9)

    records = []
    for step in range(1, config["steps"] + 1):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
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
    torch.manual_seed(config["seed"])
    records = train(config, device)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
