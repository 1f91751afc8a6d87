"""Train a classifier of handwritten digits on a stream: CSV files that the loader's workers read line by line.

The files are read in random order, and a buffer mixes their lines. Training has a budget of steps. Every few steps
print one JSON object: the loss on the digits since the last one, loss and accuracy on digits held out. At the end all
of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside
this file.
"""

import csv
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, IterableDataset


class DigitStream(IterableDataset):
    """Lines of CSV files, a label and 64 pixels each, drawn from a buffer that is filled again while they are read."""

    def __init__(self, files, buffer_size, seed):
        self.files, self.buffer_size, self.seed = files, buffer_size, seed

    def __iter__(self):
        generator = np.random.default_rng(self.seed)
        files = [self.files[index] for index in generator.permutation(len(self.files))]
        worker = torch.utils.data.get_worker_info()
        if worker is not None:
            files = files[worker.id :: worker.num_workers]
        buffer = []
        for sample in self.read(files):
            if len(buffer) < self.buffer_size:
                buffer.append(sample)
                continue
            drawn = generator.integers(self.buffer_size)
            yield buffer[drawn]
            buffer[drawn] = sample
        generator.shuffle(buffer)
        yield from buffer

    def read(self, files):
        for file in files:
            with file.open(newline="") as lines:
                for label, *pixels in csv.reader(lines):
                    yield np.array(pixels, dtype=np.float32).reshape(1, 8, 8) / 16, int(label)


def write_files(folder, images, labels, count):
    """The digits, in the order in which they come, cut into as many files."""
    files = []
    for number, part in enumerate(np.array_split(np.arange(len(labels)), count)):
        files.append(Path(folder, f"digits-{number:02d}.csv"))
        with files[-1].open("w", newline="") as lines:
            csv.writer(lines).writerows([labels[index], *images[index].astype(int)] for index in part)
    return files


@torch.no_grad()
def evaluate(model, images, labels):
    model.eval()
    prediction = model(images)
    model.train()
    return cross_entropy(prediction, labels).item(), (prediction.argmax(1) == labels).float().mean().item()


def train(loader, validation, config, device):
    width = config["width"]
    model = nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(width, 2 * width, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * width, 10),
    ).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, config["learning_rate"], total_steps=config["steps"])

    records, losses = [], []
    for step, (images, labels) in enumerate(loader, start=1):
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        loss = cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
        if step % config["interval"] == 0:
            validation_loss, validation_accuracy = evaluate(model, *validation)
            record = {
                "step": step,
                "loss": sum(losses) / len(losses),
                "validation_loss": validation_loss,
                "validation_accuracy": validation_accuracy,
            }
            print(json.dumps(record), flush=True)
            records.append(record)
            losses.clear()
        if step == config["steps"]:
            break
    return records


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    images, labels = load_digits(return_X_y=True)
    held_out = np.arange(len(labels)) % config["held_out_every"] == 0
    validation = [
        torch.tensor(images[held_out], dtype=torch.float32, device=device).reshape(-1, 1, 8, 8) / 16,
        torch.tensor(labels[held_out], device=device),
    ]
    with tempfile.TemporaryDirectory() as folder:
        files = write_files(folder, images[~held_out], labels[~held_out], config["files"])
        stream = DigitStream(files, config["buffer_size"], config["seed"])
        loader = DataLoader(stream, batch_size=config["batch_size"], num_workers=config["num_workers"])
        records = train(loader, validation, config, device)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
