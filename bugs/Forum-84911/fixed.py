"""Fine-tune a small convolutional network on handwritten digits: its filters are given, its last layer is new.

Every epoch prints one JSON object with loss and accuracy. At the end all of them go to `<output>.json`. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import digits
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, filters, num_classes):
        super().__init__()
        count, _, size, _ = filters.shape
        self.conv = nn.Conv2d(1, count, size, padding=size // 2, bias=False)
        self.conv.weight.data.copy_(filters)
        self.bn = nn.BatchNorm2d(count)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(count * 4 * 4, num_classes)

    def forward(self, x):
        return self.fc(self.pool(torch.relu(self.bn(self.conv(x)))).flatten(1))


def train_epoch(model, data, optimizer, criterion, batch_size):
    model.train()
    images, labels = data
    loss_sum = 0.0
    for batch in torch.randperm(len(labels)).to(labels.device).split(batch_size):
        optimizer.zero_grad()
        loss = criterion(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        loss_sum += loss.detach() * len(batch)
    return float(loss_sum) / len(labels)


@torch.no_grad()
def evaluate(model, data, criterion):
    model.eval()
    images, labels = data
    prediction = model(images)
    correct = (prediction.argmax(1) == labels).sum()
    return criterion(prediction, labels).item(), int(correct) / len(labels)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    train, validation = digits.load(device)
    model = Net(digits.filters(train[0], size=5), num_classes=10).to(device)
    for name, parameter in model.named_parameters():
        if "bn" not in name:
            parameter.requires_grad = False
    for parameter in model.fc.parameters():
        parameter.requires_grad = True
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.fc.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, train, optimizer, criterion, config["batch_size"])
        validation_loss, validation_accuracy = evaluate(model, validation, criterion)
        record = {
            "epoch": epoch,
            "loss": loss,
            "validation_loss": validation_loss,
            "validation_accuracy": validation_accuracy,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
