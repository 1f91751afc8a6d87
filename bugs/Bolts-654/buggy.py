"""Train a multinomial logistic regression with Adam, on the handwritten digits or the irises of scikit-learn.

Every epoch prints one JSON object with the loss on the training samples and loss and accuracy on the validation
samples; at the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default
the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from sklearn import datasets
from torch import nn
from torch.nn import functional


class LogisticRegression(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.linear = nn.Linear(features, classes)

    def forward(self, x):
        return self.linear(x).softmax(1)


def load(name, device):
    """Return (inputs, labels) to train on and (inputs, labels) to validate: four fifths and one fifth, standardised."""
    inputs, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    inputs, labels = torch.tensor(inputs, dtype=torch.float32), torch.tensor(labels)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    train, validation = order[len(order) // 5 :], order[: len(order) // 5]
    mean, std = inputs[train].mean(0), inputs[train].std(0).clamp(min=0.1)
    inputs = (inputs - mean) / std
    return tuple((inputs[part].to(device), labels[part].to(device)) for part in (train, validation))


def train_epoch(model, data, optimizer, batch_size):
    inputs, labels = data
    loss_sum = 0.0
    for batch in torch.randperm(len(labels)).to(labels.device).split(batch_size):
        loss = functional.cross_entropy(model(inputs[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_sum += loss.detach() * len(batch)
    return float(loss_sum) / len(labels)


@torch.no_grad()
def evaluate(model, data):
    inputs, labels = data
    prediction = model(inputs)
    correct = (prediction.argmax(1) == labels).sum()
    return functional.cross_entropy(prediction, labels).item(), int(correct) / len(labels)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    train, validation = load(config["dataset"], device)
    model = LogisticRegression(train[0].shape[1], int(train[1].max()) + 1).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, train, optimizer, config["batch_size"])
        validation_loss, validation_accuracy = evaluate(model, validation)
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
