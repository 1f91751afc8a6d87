"""Teach a small convolutional network to clean electrocardiograms, with the optimizer SGDW of pytorch_optimizer.

Every epoch prints one JSON object: the mean loss in training, the loss on other signals, and their signal-to-noise
ratio in decibels, before and after they are cleaned. At the end all of them go to `<output>.json`. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import heartbeats
import torch
from pytorch_optimizer import SGDW
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset


class Cleaner(nn.Module):
    """Dilated convolutions, which say what is to be taken off a signal."""

    def __init__(self, width):
        super().__init__()
        self.first = nn.Conv1d(1, width, 9, padding=4)
        self.middle = nn.ModuleList(
            nn.Conv1d(width, width, 5, padding=2 * dilation, dilation=dilation) for dilation in (2, 4, 8)
        )
        self.last = nn.Conv1d(width, 1, 9, padding=4)

    def forward(self, signals):
        hidden = functional.relu(self.first(signals))
        for layer in self.middle:
            hidden = hidden + functional.relu(layer(hidden))
        return signals - self.last(hidden)


def train_epoch(model, loader, optimizer, device):
    model.train()
    total = 0.0
    for measured, clean in loader:
        loss = functional.mse_loss(model(measured.to(device)), clean.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / len(loader)
    return total


def decibels(signals, clean):
    return (10 * (clean.square().mean(-1) / (signals - clean).square().mean(-1)).log10()).mean().item()


@torch.no_grad()
def evaluate(model, measured, clean):
    model.eval()
    cleaned = model(measured)
    return {
        "validation_loss": functional.mse_loss(cleaned, clean).item(),
        "decibels_before": decibels(measured, clean),
        "decibels": decibels(cleaned, clean),
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    train = heartbeats.load(config["signals"], config["noise"], seed=2 * config["seed"] + 1)
    validation = heartbeats.load(config["validation_signals"], config["noise"], seed=2 * config["seed"] + 2)
    measured, clean = (part.to(device) for part in validation)
    loader = DataLoader(TensorDataset(*train), batch_size=config["batch_size"], shuffle=True)

    model = Cleaner(config["width"]).to(device)
    optimizer = SGDW(
        model.parameters(),
        lr=config["learning_rate"],
        momentum=config["momentum"],
        weight_decay=config["weight_decay"],
    )
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        record = {"epoch": epoch, "loss": train_epoch(model, loader, optimizer, device)}
        record.update(evaluate(model, measured, clean))
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
