"""Train a classifier with dropout, compiled, and watch a validation set to see when it has learnt enough.

One function goes through a set of data: in training mode the optimizer learns from it, in evaluation mode loss and
accuracy are measured only. Labels of the training and the validation set are noisy, those of the test set are clean.
Every epoch prints one JSON object; at the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn


def make_data(config, device):
    """Inputs whose class a random network knows, in three sets; a part of the labels of two of them is drawn."""
    teacher = nn.Sequential(nn.Linear(config["features"], 32), nn.Tanh(), nn.Linear(32, config["classes"]))
    sets, noisy = {}, config["noise"]
    for name, count, noise in (("train", 512, noisy), ("validation", 512, noisy), ("test", 2048, 0)):
        inputs = torch.randn(count, config["features"])
        with torch.no_grad():
            labels = teacher(inputs).argmax(1)
        drawn = torch.randint(config["classes"], (count,))
        labels = torch.where(torch.rand(count) < noise, drawn, labels)
        sets[name] = inputs.to(device), labels.to(device)
    return sets


def run_epoch(model, data, criterion, optimizer, batch_size):
    inputs, labels = data
    loss_sum, correct = 0.0, 0
    for batch in torch.randperm(len(labels)).to(labels.device).split(batch_size):
        prediction = model(inputs[batch])
        loss = criterion(prediction, labels[batch])
        if model._orig_mod.training:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        loss_sum += loss.item() * len(batch)
        correct += (prediction.argmax(1) == labels[batch]).sum().item()
    return loss_sum / len(labels), correct / len(labels)


@torch.no_grad()
def accuracy(model, data):
    inputs, labels = data
    return (model(inputs).argmax(1) == labels).float().mean().item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    data = make_data(config, device)
    net = nn.Sequential(
        nn.Linear(config["features"], config["width"]),
        nn.ReLU(),
        nn.Dropout(config["dropout"]),
        nn.Linear(config["width"], config["width"]),
        nn.ReLU(),
        nn.Dropout(config["dropout"]),
        nn.Linear(config["width"], config["classes"]),
    ).to(device)
    model = torch.compile(net, backend="eager")
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        model.train()
        loss, train_accuracy = run_epoch(model, data["train"], criterion, optimizer, config["batch_size"])
        model.eval()
        measured = run_epoch(model, data["validation"], criterion, optimizer, config["batch_size"])
        validation_loss, validation_accuracy = measured
        record = {
            "epoch": epoch,
            "loss": loss,
            "train_accuracy": train_accuracy,
            "validation_loss": validation_loss,
            "accuracy": validation_accuracy,
            "test_accuracy": accuracy(model, data["test"]),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
