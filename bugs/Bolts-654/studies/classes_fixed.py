"""Train a multinomial logistic regression on blobs with several learning rates, one after the other.

For each learning rate one JSON object is printed, with loss and accuracy at the end of training; at the end all of them
go to `<output>.json`. The rates are `rates` ones, a factor of `factor` apart, from `lowest_rate` on. The one argument,
a JSON file with `parameters`, is by default the `classes.json` beside this file.
"""

import json
import sys
from pathlib import Path

import blobs
import torch
from torch import nn
from torch.nn import functional


class LogisticRegression(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.linear = nn.Linear(features, classes)

    def forward(self, x):
        return self.linear(x)


def train(model, data, optimizer, batches):
    inputs, labels = data
    for batch in batches:
        loss = functional.cross_entropy(model(inputs[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def evaluate(model, data):
    inputs, labels = data
    prediction = model(inputs)
    accuracy = (prediction.argmax(1) == labels).float().mean().item()
    return functional.cross_entropy(prediction, labels).item(), accuracy


def fit(config, learning_rate):
    torch.manual_seed(config["seed"])
    training, validation = blobs.load(config["classes"], config["samples"])
    model = LogisticRegression(training[0].shape[1], config["classes"])
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    batches = torch.randint(config["samples"], (config["num_steps"], config["batch_size"]))
    train(model, training, optimizer, batches)
    validation_loss, validation_accuracy = evaluate(model, validation)
    return {
        "learning_rate": learning_rate,
        "loss": evaluate(model, training)[0],
        "validation_loss": validation_loss,
        "validation_accuracy": validation_accuracy,
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("classes.json")
    config = json.loads(path.read_text())["parameters"]
    torch.set_num_threads(1)
    records = []
    for index in range(config["rates"]):
        record = fit(config, float(f"{config['lowest_rate'] * config['factor'] ** index:.3g}"))
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
