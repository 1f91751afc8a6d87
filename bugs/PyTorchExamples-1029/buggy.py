"""Pretrain a small network on clean handwritten digits, then fine-tune it on a few noisy ones.

The first part ends with a checkpoint, the second one begins with it. One JSON object is printed before the fine-tuning
and after each of its epochs. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset


class DigitNet(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, channels, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Linear(channels * 16, 10)

    def forward(self, images):
        return self.classifier(self.features(images).flatten(1))


class Task(nn.Module):
    """A network together with how it is trained: its loss and its optimizer."""

    def __init__(self, model, learning_rate):
        super().__init__()
        self.model = model
        self.learning_rate = learning_rate

    def training_step(self, images, labels):
        return cross_entropy(self.model(images), labels)

    def configure_optimizer(self):
        return torch.optim.Adam(self.parameters(), lr=self.learning_rate)


class Trainer:
    def __init__(self, epochs, device):
        self.epochs = epochs
        self.device = device

    def fit(self, task, loader):
        """Train the task, and give the mean loss of each epoch."""
        task.to(self.device).train()
        optimizer = task.configure_optimizer()
        for _ in range(self.epochs):
            total = 0.0
            for images, labels in loader:
                loss = task.training_step(images.to(self.device), labels.to(self.device))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item() * len(labels)
            yield total / len(loader.dataset)

    def save_checkpoint(self, task, path):
        torch.save({"state_dict": task.state_dict(), "learning_rate": task.learning_rate}, path)


def digits(noise):
    """Clean digits for the pretraining, 1000 of them, and noisy ones: 50 to fine-tune on, and 747 to validate."""
    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images, dtype=torch.float32).view(-1, 1, 8, 8) / 16
    labels = torch.tensor(labels)
    generator = torch.Generator().manual_seed(0)
    order = torch.randperm(len(labels), generator=generator)
    noisy = images + noise * torch.randn(images.shape, generator=generator)
    clean, few, rest = order[:1000], order[1000:1050], order[1050:]
    return (
        TensorDataset(images[clean], labels[clean]),
        TensorDataset(noisy[few], labels[few]),
        (noisy[rest], labels[rest]),
    )


@torch.no_grad()
def validate(model, images, labels):
    model.eval()
    outputs = model(images)
    model.train()
    return cross_entropy(outputs, labels).item(), (outputs.argmax(1) == labels).float().mean().item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    clean, few, held_out = digits(config["noise"])
    held_out = [part.to(device) for part in held_out]
    checkpoint_path = config["output"] + ".pt"

    pretraining = Task(DigitNet(config["channels"]), config["learning_rate"])
    trainer = Trainer(config["pretraining_epochs"], device)
    for epoch, loss in enumerate(trainer.fit(pretraining, DataLoader(clean, config["batch_size"], shuffle=True)), 1):
        print(f"pretraining, epoch {epoch}: loss {loss:.3f}", file=sys.stderr)
    trainer.save_checkpoint(pretraining, checkpoint_path)

    model = DigitNet(config["channels"]).to(device)
    checkpoint = torch.load(checkpoint_path, map_location=device)
    model.load_state_dict(checkpoint["state_dict"], strict=False)

    validation_loss, accuracy = validate(model, *held_out)
    records = [{"epoch": 0, "validation_loss": validation_loss, "validation_accuracy": accuracy}]
    print(json.dumps(records[0]), flush=True)
    fine_tuning = Task(model, config["fine_tuning_learning_rate"])
    trainer = Trainer(config["num_epoch"], device)
    for epoch, loss in enumerate(trainer.fit(fine_tuning, DataLoader(few, config["batch_size"], shuffle=True)), 1):
        validation_loss, accuracy = validate(model, *held_out)
        record = {"epoch": epoch, "loss": loss, "validation_loss": validation_loss, "validation_accuracy": accuracy}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
