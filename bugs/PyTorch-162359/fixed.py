"""Train a small convolutional network on handwritten digits by SGD with a learning rate that is a tensor.

The learning rate has a constant warm-up, and decays exponentially from then on. Every epoch prints one JSON object: the
learning rate of its optimizer steps, the mean loss of its batches, and loss and accuracy on other images after it. At
the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the
`config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR


def load(device):
    """The digits of scikit-learn: three quarters to train on, one quarter to validate."""
    images, labels = load_digits(return_X_y=True)
    parts = train_test_split(images, labels, test_size=0.25, random_state=0, stratify=labels)
    train_images, images, train_labels, labels = parts
    return [
        (torch.tensor(x, dtype=torch.float32, device=device).view(-1, 1, 8, 8) / 16, torch.tensor(y, device=device))
        for x, y in ((train_images, train_labels), (images, labels))
    ]


def network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(128, 10),
    )


def make_scheduler(optimizer, config):
    epochs = config["warmup_epochs"]
    warmup = ConstantLR(optimizer, factor=config["factor"], total_iters=epochs)
    decay = ExponentialLR(optimizer, gamma=config["gamma"])
    for scheduler in (warmup, decay):
        scheduler.base_lrs = [rate.clone() for rate in scheduler.base_lrs]
    return SequentialLR(optimizer, schedulers=[warmup, decay], milestones=[epochs])


def train_epoch(model, data, optimizer, criterion, batch_size):
    images, labels = data
    loss_sum = 0.0
    for batch in torch.randperm(len(images)).to(images.device).split(batch_size):
        optimizer.zero_grad()
        loss = criterion(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        loss_sum += loss.item() * len(batch)
    return loss_sum / len(images)


@torch.no_grad()
def evaluate(model, data, criterion):
    images, labels = data
    outputs = model(images)
    accuracy = (outputs.argmax(1) == labels).float().mean()
    return criterion(outputs, labels).item(), accuracy.item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    train, validation = load(device)
    model = network().to(device)
    rate = torch.tensor(config["learning_rate"])
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=config["momentum"])
    scheduler = make_scheduler(optimizer, config)
    criterion = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        record = {"epoch": epoch, "learning_rate": optimizer.param_groups[0]["lr"].item()}
        record["loss"] = train_epoch(model, train, optimizer, criterion, config["batch_size"])
        record["validation_loss"], record["validation_accuracy"] = evaluate(model, validation, criterion)
        scheduler.step()
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
