"""Find small lesions in scans of livers, with the generalised Dice loss.

The loss weighs a class by the inverse square of its volume, since a lesion is a few pixels among thousands, and takes
the volumes over a batch, since many livers have none. Every epoch prints one JSON object: the mean loss in training,
the loss of the scans that validate, and the Dice scores of the classes there, counted over all pixels. At the end all
of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside
this file.
"""

import json
import sys
from pathlib import Path

import livers
import torch
from monai.losses import GeneralizedDiceLoss
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def build_model(classes, width):
    """A network that sees more and more of the surroundings of a pixel, at full resolution."""
    layers = []
    for inputs, dilation in ((1, 1), (width, 1), (width, 2), (width, 4)):
        layers += [nn.Conv2d(inputs, width, 3, padding=dilation, dilation=dilation), nn.GroupNorm(4, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Conv2d(width, classes, 1))


def compute_loss(criterion, outputs, masks):
    found, wanted = outputs.softmax(1), torch.zeros_like(outputs).scatter_(1, masks, 1)
    volumes = wanted.sum((0, 2, 3))
    weights = criterion.w_func(volumes)
    weights = weights.where(volumes > 0, weights[volumes > 0].max())
    hits = (weights * (found * wanted).sum((0, 2, 3))).sum()
    total = (weights * (found + wanted).sum((0, 2, 3))).sum()
    return 1 - (2 * hits + criterion.smooth_nr) / (total + criterion.smooth_dr)


def train_epoch(model, criterion, loader, optimizer, device):
    model.train()
    losses = []
    for images, masks in loader:
        optimizer.zero_grad()
        loss = compute_loss(criterion, model(images.to(device)), masks.to(device))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def validate(model, criterion, loader, device):
    """The mean loss, and the Dice score of each class."""
    model.eval()
    losses, found, wanted = [], [], []
    for images, masks in loader:
        outputs, masks = model(images.to(device)), masks.to(device)
        losses.append(compute_loss(criterion, outputs, masks).item())
        found.append(outputs.argmax(1, keepdim=True))
        wanted.append(masks)
    found, wanted = torch.cat(found), torch.cat(wanted)
    scores = {}
    for number, name in enumerate(livers.CLASSES):
        hits = ((found == number) & (wanted == number)).sum()
        scores[name] = (2 * hits / ((found == number).sum() + (wanted == number).sum())).item()
    return sum(losses) / len(losses), scores


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    kind = (config["share"], config["noise"])
    training = TensorDataset(*livers.load(config["patients"], *kind, 2 * config["seed"]))
    validation = TensorDataset(*livers.load(config["validation_patients"], *kind, 2 * config["seed"] + 1))
    loader = DataLoader(training, config["batch_size"], shuffle=True)
    validation_loader = DataLoader(validation, config["batch_size"])
    model = build_model(len(livers.CLASSES), config["width"]).to(device)
    criterion = GeneralizedDiceLoss(to_onehot_y=True, softmax=True, batch=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, criterion, loader, optimizer, device)
        validation_loss, scores = validate(model, criterion, validation_loader, device)
        record = {"epoch": epoch, "loss": loss, "validation_loss": validation_loss, **scores}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
