"""Train a classifier of radio signals: in which channel is the carrier? The loader's workers make them on demand.

Every epoch prints one JSON object: loss and accuracy on its signals and on signals held out. At the end all of them go
to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Signals(Dataset):
    """As many signals as an epoch shall have: a carrier of random channel, frequency and phase, and noise."""

    def __init__(self, count, length, channels, noise, seed):
        self.count, self.length, self.channels, self.noise = count, length, channels, noise
        self.generator = np.random.default_rng(seed)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        channel = int(self.generator.integers(self.channels))
        frequency = (channel + self.generator.uniform(0.2, 0.8)) / (2 * self.channels)
        carrier = np.exp(2j * np.pi * (frequency * np.arange(self.length) + self.generator.random()))
        noise = self.noise * self.generator.standard_normal((2, self.length))
        return (np.stack([carrier.real, carrier.imag]) + noise).astype(np.float32), channel


def train_epoch(model, loader, optimizer, criterion, device):
    model.train()
    loss_sum, correct, count = 0.0, 0, 0
    for signals, labels in loader:
        signals, labels = signals.to(device), labels.to(device)
        optimizer.zero_grad()
        prediction = model(signals)
        loss = criterion(prediction, labels)
        loss.backward()
        optimizer.step()
        loss_sum += loss.item() * len(labels)
        correct += (prediction.argmax(1) == labels).sum().item()
        count += len(labels)
    return loss_sum / count, correct / count


@torch.no_grad()
def evaluate(model, signals, labels, criterion):
    model.eval()
    prediction = model(signals)
    return criterion(prediction, labels).item(), (prediction.argmax(1) == labels).float().mean().item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    kind = (config["length"], config["channels"], config["noise"])
    signals = Signals(config["signals"], *kind, config["seed"])
    loader = DataLoader(signals, batch_size=config["batch_size"], num_workers=config["num_workers"])
    validation = Signals(config["validation_signals"], *kind, config["seed"] + 1000)
    validation = [part.to(device) for part in next(iter(DataLoader(validation, batch_size=len(validation))))]

    model = nn.Sequential(
        nn.Flatten(),
        nn.Linear(2 * config["length"], config["width"]),
        nn.ReLU(),
        nn.Linear(config["width"], config["channels"]),
    ).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    criterion = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss, accuracy = train_epoch(model, loader, optimizer, criterion, device)
        validation_loss, validation_accuracy = evaluate(model, *validation, criterion)
        record = {
            "epoch": epoch,
            "loss": loss,
            "accuracy": accuracy,
            "validation_loss": validation_loss,
            "validation_accuracy": validation_accuracy,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
