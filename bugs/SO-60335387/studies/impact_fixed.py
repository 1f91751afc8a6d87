"""Train a small network with several learning rates, one after the other, all from the same initial weights.

For each learning rate one JSON object is printed, with the results at the end of training; at the end all of them go
to `<output>.json`. There are `rates` of them, a factor of `factor` apart, `below` of these below `base_rate`. The one
argument, a JSON file with `parameters`, is by default the `impact.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import data
import models
import torch
from torch import nn

OPTIMIZERS = {
    "SGD": torch.optim.SGD,
    "momentum": lambda parameters, lr: torch.optim.SGD(parameters, lr=lr, momentum=0.9),
    "Adam": torch.optim.Adam,
    "AdamW": torch.optim.AdamW,
    "RMSprop": torch.optim.RMSprop,
    "Adagrad": torch.optim.Adagrad,
}


def train(model, samples, optimizer, batches):
    model.train()
    inputs, labels = samples
    for batch in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs[batch]), labels[batch])
        loss.backward()
        optimizer.step()


@torch.no_grad()
def evaluate(model, samples):
    model.eval()
    inputs, labels = samples
    prediction = model(inputs)
    accuracy = (prediction.argmax(1) == labels).float().mean().item()
    return nn.functional.cross_entropy(prediction, labels).item(), accuracy


def fit(config, dataset, learning_rate):
    """Train with one learning rate, with a look at the validation samples after each part of the steps."""
    torch.manual_seed(config["seed"])
    model = models.build(config["architecture"], dataset)
    optimizer = OPTIMIZERS[config["optimizer"]](model.parameters(), lr=learning_rate)
    batches = torch.randint(len(dataset.train[1]), (config["num_steps"], config["batch_size"]))
    accuracies = []
    for part in batches.chunk(config["num_parts"]):
        train(model, dataset.train, optimizer, part)
        accuracies.append(evaluate(model, dataset.validation)[1])
    train_loss, train_accuracy = evaluate(model, dataset.train)
    norm = math.sqrt(sum(p.detach().double().pow(2).sum().item() for p in model.parameters()))
    half = next(index for index, accuracy in enumerate(accuracies, 1) if 2 * accuracy >= accuracies[-1])
    return {
        "learning_rate": learning_rate,
        "train_loss": train_loss,
        "train_accuracy": train_accuracy,
        "validation_accuracy": accuracies[-1],
        "best_accuracy": max(accuracies),
        "half_accuracy_at": half / len(accuracies),
        "parameter_norm": norm,
        "finite": math.isfinite(train_loss) and math.isfinite(norm),
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("impact.json")
    config = json.loads(path.read_text())["parameters"]
    torch.set_num_threads(1)
    dataset = data.load(config["dataset"])

    records = []
    for index in range(config["rates"]):
        learning_rate = float(f"{config['base_rate'] * config['factor'] ** (index - config['below']):.3g}")
        record = fit(config, dataset, learning_rate)
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
