"""Train a recurrent network to say the next letter of a word, and validate it by TorchMetrics.

Every epoch prints one JSON object: the losses in training and validation, and in validation how often the next letter
is the first guess, and one of the first few guesses. At the end all of them go to `<output>.json`. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
import words
from torch import nn
from torchmetrics.classification import MulticlassAccuracy


class Speller(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.letters = nn.Embedding(words.CLASSES, width)
        self.network = nn.GRU(width, width, batch_first=True)
        self.output = nn.Linear(width, words.CLASSES)

    def forward(self, inputs):
        return self.output(self.network(self.letters(inputs))[0])


def train_epoch(model, data, optimizer, criterion, batch_size):
    model.train()
    inputs, targets = data
    total = 0.0
    for batch in torch.randperm(len(inputs)).to(inputs.device).split(batch_size):
        loss = criterion(model(inputs[batch]).transpose(1, 2), targets[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(inputs)


@torch.no_grad()
def evaluate(model, data, criterion, batch_size, metrics):
    model.eval()
    total = 0.0
    for inputs, targets in zip(*(part.split(batch_size) for part in data), strict=True):
        scores = model(inputs).transpose(1, 2)
        total += criterion(scores, targets).item() * len(inputs)
        for metric in metrics:
            metric.update(scores, targets)
    values = [metric.compute().item() for metric in metrics]
    for metric in metrics:
        metric.reset()
    return total / len(data[0]), *values


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    train, validation = words.load(config["longest"], device)
    model = Speller(config["width"]).to(device)
    criterion = nn.CrossEntropyLoss(ignore_index=words.PADDING)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    metrics = [
        MulticlassAccuracy(words.CLASSES, top_k=top_k, average="micro", ignore_index=words.PADDING).to(device)
        for top_k in (1, config["top_k"])
    ]
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, train, optimizer, criterion, config["batch_size"])
        validation_loss, first, few = evaluate(model, validation, criterion, config["batch_size"], metrics)
        record = {
            "epoch": epoch,
            "loss": loss,
            "validation_loss": validation_loss,
            "first_guess": first,
            "first_guesses": few,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
