"""Train a network on a few handwritten digits, and keep the weights of the epoch with the lowest validation loss.

TorchMetrics tracks the lowest and the highest validation loss. Every epoch prints one JSON object: the loss in
training, the validation loss, the lowest and the highest one so far, and the validation loss of the weights that are
kept. At the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the
`config.json` beside this file.
"""

import copy
import json
import sys
from pathlib import Path

import digits
import torch
from torch import nn
from torchmetrics import MaxMetric, MetricCollection, MinMetric


def train_epoch(model, data, optimizer, criterion, batch_size):
    model.train()
    images, labels = data
    total = 0.0
    for batch in torch.randperm(len(labels)).to(labels.device).split(batch_size):
        loss = criterion(model(images[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(labels)


@torch.no_grad()
def evaluate(model, data, criterion):
    model.eval()
    images, labels = data
    prediction = model(images)
    return criterion(prediction, labels), (prediction.argmax(1) == labels).float().mean().item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    train, validation = digits.load(config["images"], config["drawn_labels"], config["seed"], device)
    model = nn.Sequential(nn.Linear(64, config["width"]), nn.ReLU(), nn.Linear(config["width"], 10)).to(device)
    kept = copy.deepcopy(model)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    tracked = MetricCollection({"lowest": MinMetric(), "highest": MaxMetric()}, compute_groups=False).to(device)

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, train, optimizer, criterion, config["batch_size"])
        validation_loss, accuracy = evaluate(model, validation, criterion)
        tracked.update(validation_loss)
        so_far = tracked.compute()
        if validation_loss <= so_far["lowest"]:
            kept.load_state_dict(model.state_dict())
        kept_loss, kept_accuracy = evaluate(kept, validation, criterion)
        record = {
            "epoch": epoch,
            "loss": loss,
            "validation_loss": validation_loss.item(),
            "validation_accuracy": accuracy,
            "lowest_loss": so_far["lowest"].item(),
            "highest_loss": so_far["highest"].item(),
            "kept_loss": kept_loss.item(),
            "kept_accuracy": kept_accuracy,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
