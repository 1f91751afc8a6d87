"""Find the eights among handwritten digits, and keep the model with the best F1 score in validation.

The metrics of TorchMetrics are logged while a validation is running, for the batches so far, as a progress bar would
show them. Every epoch prints one JSON object: the loss in training, the metrics of the validation, and of which epoch
the model is that is kept. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import copy
import json
import logging
import sys
from pathlib import Path

import digits
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torchmetrics import MetricCollection
from torchmetrics.classification import BinaryAccuracy, BinaryF1Score, BinaryPrecision, BinaryRecall

logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)


def train_epoch(model, loader, optimizer, criterion, device):
    model.train()
    loss_sum = 0.0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        loss = criterion(model(images).squeeze(1), labels.float())
        loss.backward()
        optimizer.step()
        loss_sum += loss.detach() * len(labels)
    return float(loss_sum) / len(loader.dataset)


@torch.no_grad()
def validate(model, loader, metrics, device):
    model.eval()
    metrics.reset()
    for number, (images, labels) in enumerate(loader, start=1):
        logits = model(images.to(device)).squeeze(1)
        metrics.update(logits.sigmoid(), labels.to(device))
        scores = {name: score.item() for name, score in metrics.compute().items()}
        logging.info("validation %2d/%d: %s", number, len(loader), scores)
    return scores


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    train, validation, test = (TensorDataset(*part) for part in digits.load())
    train_loader = DataLoader(train, batch_size=config["batch_size"], shuffle=True)
    validation_loader = DataLoader(validation, batch_size=config["batch_size"])
    test_loader = DataLoader(test, batch_size=config["batch_size"])
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)).to(device)
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    metrics = MetricCollection(
        {
            "accuracy": BinaryAccuracy(),
            "f1": BinaryF1Score(),
            "precision": BinaryPrecision(),
            "recall": BinaryRecall(),
        },
        compute_groups=False,
    ).to(device)

    records = []
    best_f1, best_epoch, best_weights = -1.0, 0, None
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, train_loader, optimizer, criterion, device)
        scores = validate(model, validation_loader, metrics, device)
        if scores["f1"] > best_f1:
            best_f1, best_epoch, best_weights = scores["f1"], epoch, copy.deepcopy(model.state_dict())
        record = {"epoch": epoch, "loss": loss, **scores, "best_epoch": best_epoch}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))

    model.load_state_dict(best_weights)
    logging.info("test, with the weights of epoch %d: %s", best_epoch, validate(model, test_loader, metrics, device))


if __name__ == "__main__":
    main()
