"""Train an autoencoder on handwritten digits, and validate it in grey levels, by a transforming metric of TorchMetrics.

Every epoch prints one JSON object: the loss in training and in validation, and the mean square error in validation, in
the grey levels of the images, from 0 to 16. At the end all of them go to `<output>.json`. The one argument, a JSON file
with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import digits
import torch
from torch import nn
from torchmetrics import MeanSquaredError
from torchmetrics.wrappers import LambdaInputTransformer


def make_autoencoder(width, code):
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(64, width),
        nn.ReLU(),
        nn.Linear(width, code),
        nn.Linear(code, width),
        nn.ReLU(),
        nn.Linear(width, 64),
        nn.Unflatten(1, (1, 8, 8)),
    )


def grey_levels(images):
    return ((images + 1) * 8).round().clamp(0, 16)


def train_epoch(model, images, optimizer, criterion, batch_size):
    model.train()
    total = 0.0
    for batch in torch.randperm(len(images)).to(images.device).split(batch_size):
        loss = criterion(model(images[batch]), images[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(images)


@torch.no_grad()
def evaluate(model, images, criterion, metric, batch_size):
    model.eval()
    metric.wrapped_metric.reset()
    total = 0.0
    for batch in images.split(batch_size):
        prediction = model(batch)
        total += criterion(prediction, batch).item() * len(batch)
        metric.update(prediction, batch)
    return total / len(images), metric.compute().item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    (train, _), (validation, _) = digits.load(device)
    model = make_autoencoder(config["width"], config["code"]).to(device)
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    metric = LambdaInputTransformer(MeanSquaredError(), grey_levels, grey_levels).to(device)
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, train, optimizer, criterion, config["batch_size"])
        validation_loss, error = evaluate(model, validation, criterion, metric, config["batch_size"])
        record = {
            "epoch": epoch,
            "loss": loss,
            "validation_loss": validation_loss,
            "validation_error": error,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
