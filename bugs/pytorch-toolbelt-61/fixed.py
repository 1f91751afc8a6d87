"""Find sky, grass, road and cars in views of streets: cross-entropy first, then the Lovász-Softmax loss.

The Lovász-Softmax loss is a smooth form of the intersection over union (IoU), by which the model is judged. Every epoch
prints one JSON object: the loss in training, the mean IoU of the classes in validation, and that of cars. At the end
all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json`
beside this file.
"""

import json
import sys
from pathlib import Path

import streets
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LovaszSoftmaxLoss(nn.Module):
    """The mean of the Lovász extensions of the classes that are present: images may have any number of dimensions."""

    def forward(self, outputs, labels):
        probabilities, labels = self.flatten(outputs.softmax(1), labels)
        losses = []
        for number in range(probabilities.shape[1]):
            inside = (labels == number).float()
            if inside.any():
                errors, order = (inside - probabilities[:, number]).abs().sort(descending=True)
                losses.append(torch.dot(errors, self.jaccard_steps(inside[order])))
        return torch.stack(losses).mean()

    @staticmethod
    def flatten(probabilities, labels):
        """One row for each pixel."""
        classes = probabilities.shape[1]
        probabilities = torch.movedim(probabilities, 1, -1)
        return probabilities.contiguous().view(-1, classes), labels.view(-1)

    @staticmethod
    def jaccard_steps(inside):
        """By how much the Jaccard loss grows with each further pixel, the largest error first."""
        total = inside.sum()
        jaccard = 1 - (total - inside.cumsum(0)) / (total + (1 - inside).cumsum(0))
        return torch.diff(jaccard, prepend=jaccard.new_zeros(1))


def build_model(classes, width):
    layers = []
    for inputs, dilation in ((3, 1), (width, 2), (width, 4)):
        layers += [nn.Conv2d(inputs, width, 3, padding=dilation, dilation=dilation), nn.GroupNorm(4, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Conv2d(width, classes, 1))


def train_epoch(model, criterion, loader, optimizer, device):
    model.train()
    losses = []
    for images, masks in loader:
        optimizer.zero_grad()
        loss = criterion(model(images.to(device)), masks.to(device))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def measure_ious(model, images, masks, device):
    model.eval()
    found = model(images.to(device)).argmax(1).cpu()
    ious = []
    for number in range(len(streets.CLASSES)):
        inside, wanted = found == number, masks == number
        ious.append(((inside & wanted).sum() / (inside | wanted).sum()).item())
    return ious


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    training = TensorDataset(*streets.load(config["views"], config["noise"], 2 * config["seed"]))
    images, masks = streets.load(config["validation_views"], config["noise"], 2 * config["seed"] + 1)
    loader = DataLoader(training, config["batch_size"], shuffle=True)
    model = build_model(len(streets.CLASSES), config["width"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        if epoch <= config["epochs_cross_entropy"]:
            name, criterion = "cross-entropy", nn.CrossEntropyLoss()
        else:
            name, criterion = "lovasz", LovaszSoftmaxLoss()
        loss = train_epoch(model, criterion, loader, optimizer, device)
        ious = measure_ious(model, images, masks, device)
        record = {
            "epoch": epoch,
            "criterion": name,
            "loss": loss,
            "mean_iou": sum(ious) / len(ious),
            "car_iou": ious[streets.CLASSES.index("car")],
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
