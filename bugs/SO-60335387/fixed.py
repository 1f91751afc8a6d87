"""Train a small convolutional network on images of handwritten digits with Adam.

Every epoch prints one JSON object with loss and accuracy on the training and the validation images; at the end
all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json`
beside this file.
"""

import json
import sys
from pathlib import Path

import images
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, kernel_size=5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, kernel_size=5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(nn.Linear(32 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10))

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def train_epoch(model, data, optimizer, criterion, batch_size):
    model.train()
    inputs, labels = data
    loss_sum, correct = 0.0, 0
    for batch in torch.randperm(len(labels)).to(labels.device).split(batch_size):
        optimizer.zero_grad()
        prediction = model(inputs[batch])
        loss = criterion(prediction, labels[batch])
        loss.backward()
        optimizer.step()
        loss_sum += loss.detach() * len(batch)
        correct += (prediction.argmax(1) == labels[batch]).sum()
    return float(loss_sum) / len(labels), int(correct) / len(labels)


@torch.no_grad()
def evaluate(model, data, criterion):
    model.eval()
    inputs, labels = data
    prediction = torch.cat([model(batch) for batch in inputs.split(1000)])
    correct = (prediction.argmax(1) == labels).sum()
    return criterion(prediction, labels).item(), int(correct) / len(labels)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    train, validation = images.load(config["dataset"], device)
    model = Net().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    criterion = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        train_loss, train_accuracy = train_epoch(model, train, optimizer, criterion, config["batch_size"])
        validation_loss, validation_accuracy = evaluate(model, validation, criterion)
        record = {
            "epoch": epoch,
            "train_loss": train_loss,
            "train_accuracy": train_accuracy,
            "validation_loss": validation_loss,
            "validation_accuracy": validation_accuracy,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
