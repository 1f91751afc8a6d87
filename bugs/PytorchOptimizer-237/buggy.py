"""Train a classifier of handwritten digits with Lookahead of pytorch_optimizer; halfway go on from a checkpoint.

Every epoch prints one JSON object: the mean loss in training, on images that are shifted at random, and the loss and
the accuracy on other images. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import digits
import torch
from pytorch_optimizer import Lookahead
from torch import nn


def make_classifier(width):
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(64, width),
        nn.ReLU(),
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Linear(width, 10),
    )


def make_training(config, device, checkpoint=None):
    model = make_classifier(config["width"]).to(device)
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
    inner = torch.optim.SGD(model.parameters(), lr=config["learning_rate"], momentum=config["momentum"])
    optimizer = Lookahead(inner, k=config["k"], alpha=config["alpha"])
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, config["num_epoch"])
    if checkpoint:
        optimizer.load_state_dict(checkpoint["optimizer"])
        scheduler.load_state_dict(checkpoint["scheduler"])
    return model, optimizer, scheduler


def shift(images):
    """Move each image by at most one pixel, up or down and to a side."""
    rows, columns = torch.randint(3, (2, len(images), 1, 1))
    padded = nn.functional.pad(images[:, 0], (1, 1, 1, 1), value=-1.0)
    index = torch.arange(len(images))[:, None, None]
    return padded[index, rows + torch.arange(8)[:, None], columns + torch.arange(8)][:, None]


def train_epoch(model, images, labels, optimizer, criterion, batch_size):
    model.train()
    total = 0.0
    for batch in torch.randperm(len(images)).to(images.device).split(batch_size):
        loss = criterion(model(shift(images[batch])), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(images)


@torch.no_grad()
def evaluate(model, images, labels, criterion):
    model.eval()
    outputs = model(images)
    accuracy = (outputs.argmax(1) == labels).float().mean().item()
    return criterion(outputs, labels).item(), accuracy


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    train, validation = digits.load(device)
    criterion = nn.CrossEntropyLoss()
    model, optimizer, scheduler = make_training(config, device)
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, *train, optimizer, criterion, config["batch_size"])
        scheduler.step()
        validation_loss, accuracy = evaluate(model, *validation, criterion)
        record = {"epoch": epoch, "loss": loss, "validation_loss": validation_loss, "accuracy": accuracy}
        print(json.dumps(record), flush=True)
        records.append(record)
        if epoch == config["stop_epoch"]:
            parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
            states = {name: part.state_dict() for name, part in parts.items()}
            torch.save(states, config["output"] + ".pt")
            checkpoint = torch.load(config["output"] + ".pt", map_location=device, weights_only=True)
            model, optimizer, scheduler = make_training(config, device, checkpoint)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
