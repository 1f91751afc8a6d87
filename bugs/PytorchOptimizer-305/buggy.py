"""Train a classifier of handwritten digits with the optimizer AdamG of pytorch_optimizer.

Every epoch prints one JSON object: the mean loss in training, and the loss and the accuracy on other images. At the end
all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json`
beside this file.
"""

import json
import sys
from pathlib import Path

import digits
import torch
from pytorch_optimizer import AdamG
from torch import nn


def make_classifier(width):
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(64, width),
        nn.ReLU(),
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Linear(width, 10),
    )


def train_epoch(model, images, labels, optimizer, criterion, batch_size):
    model.train()
    total = 0.0
    for batch in torch.randperm(len(images)).to(images.device).split(batch_size):
        loss = criterion(model(images[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(images)


@torch.no_grad()
def evaluate(model, images, labels, criterion):
    model.eval()
    outputs = model(images)
    accuracy = (outputs.argmax(1) == labels).float().mean().item()
    return criterion(outputs, labels).item(), accuracy


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    train, validation = digits.load(device)
    model = make_classifier(config["width"]).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = AdamG(model.parameters(), lr=config["learning_rate"], p=config["p"], q=config["q"])
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, *train, optimizer, criterion, config["batch_size"])
        validation_loss, accuracy = evaluate(model, *validation, criterion)
        record = {"epoch": epoch, "loss": loss, "validation_loss": validation_loss, "accuracy": accuracy}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
