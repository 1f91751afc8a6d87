"""Train a network with the focal loss on handwritten digits, of which some classes are much rarer than others.

Every epoch prints one JSON object: the loss, and the accuracy on held-out digits, all classes and the rarest ones. At
the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the
`config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.functional import cross_entropy


class FocalLoss(nn.Module):
    """Cross-entropy, less of it for what the network is sure of: (1 - p)^gamma times -log(p), p of the right class."""

    def __init__(self, gamma):
        super().__init__()
        self.gamma = gamma

    def forward(self, prediction, labels):
        loss = cross_entropy(prediction, labels)
        p = torch.exp(-loss)
        return ((1 - p) ** self.gamma * loss).mean()


def load(most, fewest, device):
    """Images and labels to train on, from `most` of class 0 down to `fewest` of class 9, and balanced ones held out."""
    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images, dtype=torch.float32) / 16
    labels = torch.tensor(labels)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    training, validation = [], []
    for digit in range(10):
        own = order[labels[order] == digit]
        count = round(most * (fewest / most) ** (digit / 9))
        training.append(own[:count])
        validation.append(own[most:])
    return tuple((images[part].to(device), labels[part].to(device)) for part in map(torch.cat, (training, validation)))


def train_epoch(model, images, labels, optimizer, criterion, batch_size):
    model.train()
    losses = []
    for batch in torch.randperm(len(labels)).to(labels.device).split(batch_size):
        optimizer.zero_grad()
        loss = criterion(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def evaluate(model, images, labels):
    """The accuracy for each class."""
    model.eval()
    right = (model(images).argmax(1) == labels).float()
    return [right[labels == digit].mean().item() for digit in range(10)]


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    training, validation = load(config["most"], config["fewest"], device)
    model = nn.Sequential(nn.Linear(64, config["hidden"]), nn.ReLU(), nn.Linear(config["hidden"], 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=config["learning_rate"], momentum=config["momentum"])
    criterion = FocalLoss(config["gamma"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, *training, optimizer, criterion, config["batch_size"])
        accuracies = evaluate(model, *validation)
        record = {
            "epoch": epoch,
            "loss": loss,
            "accuracy": sum(accuracies) / 10,
            "rare_accuracy": sum(accuracies[-3:]) / 3,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
