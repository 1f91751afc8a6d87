"""Tell signs in images, with augmented data, and a learning rate that falls when the validation gets no better.

A part of the images is split off for the validation. Every epoch prints one JSON object: the learning rate, the loss in
training, loss and accuracy in validation, and of which epoch the model is that is kept. At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import copy
import json
import sys
from pathlib import Path

import signs
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader, Subset


def build_model(width):
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(width, 2 * width, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(2 * width * (signs.SIZE // 4) ** 2, signs.KINDS),
    )


def split(images, kinds, validation_images, transform):
    """Two parts of the images: to train on, changed anew each time, and to validate."""
    order = torch.randperm(len(images)).tolist()
    dataset = signs.Signs(images, kinds, transform)
    training = Subset(dataset, order[validation_images:])
    validation = Subset(dataset, order[:validation_images])
    return training, validation


def train_epoch(model, loader, optimizer, device):
    model.train()
    losses = []
    for images, kinds in loader:
        optimizer.zero_grad()
        loss = cross_entropy(model(images.to(device)), kinds.to(device))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    loss, hits = 0.0, 0
    for images, kinds in loader:
        outputs, kinds = model(images.to(device)), kinds.to(device)
        loss += cross_entropy(outputs, kinds, reduction="sum").item()
        hits += (outputs.argmax(1) == kinds).sum().item()
    return loss / len(loader.dataset), hits / len(loader.dataset)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    transform = signs.ShiftAndErase(config["shift"], config["square"])
    images, kinds = signs.draw(config["images"], config["noise"], config["seed"], 100 + config["seed"])
    training, validation = split(images, kinds, config["validation_images"], transform)
    loader = DataLoader(training, config["batch_size"], shuffle=True)
    validation_loader = DataLoader(validation, config["batch_size"])

    model = build_model(config["width"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    scheduler = ReduceLROnPlateau(optimizer, factor=config["factor"], patience=config["patience"])

    records = []
    best_loss, best_epoch, best_weights = float("inf"), 0, None
    for epoch in range(1, config["num_epoch"] + 1):
        learning_rate = optimizer.param_groups[0]["lr"]
        loss = train_epoch(model, loader, optimizer, device)
        validation_loss, accuracy = evaluate(model, validation_loader, device)
        scheduler.step(validation_loss)
        if validation_loss < best_loss:
            best_loss, best_epoch, best_weights = validation_loss, epoch, copy.deepcopy(model.state_dict())
        record = {
            "epoch": epoch,
            "learning_rate": learning_rate,
            "loss": loss,
            "validation_loss": validation_loss,
            "validation_accuracy": accuracy,
            "best_epoch": best_epoch,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))

    model.load_state_dict(best_weights)
    test = signs.Signs(*signs.draw(config["test_images"], config["noise"], config["seed"], 200 + config["seed"]))
    _, accuracy = evaluate(model, DataLoader(test, config["batch_size"]), device)
    print(f"test, with the weights of epoch {best_epoch}: accuracy {accuracy:.3f}", file=sys.stderr)


if __name__ == "__main__":
    main()
