"""Train a small convolutional network on handwritten digits, with a moving average of its weights by ema-pytorch.

Every epoch prints one JSON object: the loss in training, and loss and accuracy in validation, of the network and of its
average. At the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default
the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import digits
import torch
from ema_pytorch import EMA
from torch import nn


def make_network(width):
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.Conv2d(width, width, 3, padding=1, stride=2),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(16 * width, 10),
    )


def train_epoch(model, average, data, optimizer, criterion, batch_size):
    model.train()
    images, labels = data
    total = 0.0
    for batch in torch.randperm(len(labels)).to(labels.device).split(batch_size):
        loss = criterion(model(images[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update()
        total += loss.item() * len(batch)
    return total / len(labels)


@torch.no_grad()
def evaluate(model, data, criterion):
    model.eval()
    images, labels = data
    prediction = model(images)
    return criterion(prediction, labels).item(), (prediction.argmax(1) == labels).float().mean().item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    train, validation = digits.load(device)
    model = make_network(config["width"]).to(device)
    average = EMA(
        model,
        beta=config["beta"],
        update_after_step=config["update_after_step"],
        update_every=config["update_every"],
    )
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, average, train, optimizer, criterion, config["batch_size"])
        validation_loss, accuracy = evaluate(model, validation, criterion)
        average_loss, average_accuracy = evaluate(average, validation, criterion)
        record = {
            "epoch": epoch,
            "loss": loss,
            "validation_loss": validation_loss,
            "validation_accuracy": accuracy,
            "average_loss": average_loss,
            "average_accuracy": average_accuracy,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
