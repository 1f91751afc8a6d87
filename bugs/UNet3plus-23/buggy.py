"""Train a small UNet 3+ to mark bright lesions in made scans, where vessels are as bright.

After each epoch the lesions of held-out scans are marked, and one JSON object is printed. At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import interpolate
from torch.utils.data import DataLoader, TensorDataset


def convolution(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)
    )


class UNet3Plus(nn.Module):
    """Three scales; each stage on the way up sees all stages on the way down that are not coarser, and all below it."""

    def __init__(self, channels):
        super().__init__()
        self.fine = nn.Sequential(convolution(1, channels), convolution(channels, channels))
        self.medium = convolution(channels, 2 * channels)
        self.coarse = convolution(2 * channels, 4 * channels)
        self.up_medium = convolution(7 * channels, 2 * channels)
        self.up_fine = convolution(7 * channels, 2 * channels)
        self.output = nn.Conv2d(2 * channels, 1, 3, padding=1)
        self.pool = nn.MaxPool2d(2)

    def forward(self, scans):
        fine = self.fine(scans)
        medium = self.medium(self.pool(fine))
        coarse = self.coarse(self.pool(medium))
        medium = self.up_medium(torch.cat((self.pool(fine), medium, interpolate(coarse, scale_factor=2)), 1))
        fine = torch.cat((fine, interpolate(medium, scale_factor=2), interpolate(coarse, scale_factor=4)), 1)
        return torch.sigmoid(self.output(self.up_fine(fine)))


def made_scans(count, size, noise, generator):
    """Scans of uneven tissue with up to four lesions and one straight vessel each, and the masks of the lesions."""

    def uniform(low, high):
        return low + (high - low) * torch.rand(count, 1, 1, 1, generator=generator)

    rows, columns = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    tissue = interpolate(torch.rand(count, 1, 4, 4, generator=generator), size=size, mode="bicubic")
    masks = torch.zeros(count, 1, size, size)
    for _ in range(4):
        row, column, radius = uniform(0, size), uniform(0, size), uniform(1.5, 3.5)
        lesion = (rows - row) ** 2 + (columns - column) ** 2 < radius**2
        masks[lesion & (uniform(0, 1) < 0.75)] = 1
    angle = uniform(0, torch.pi)
    across = (rows - uniform(0, size)) * angle.cos() + (columns - uniform(0, size)) * angle.sin()
    bright = masks.maximum((across.abs() < 1.2).float())
    return TensorDataset(tissue + bright + noise * torch.randn(masks.shape, generator=generator), masks)


def train_epoch(model, loader, criterion, optimizer, device):
    model.train()
    losses = []
    for scans, masks in loader:
        loss = criterion(model(scans.to(device)), masks.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def validate(model, loader, threshold, device):
    """The Dice score of all scans together, and which share of their pixels is marked as lesion.

    The predictions become images with 8 bits a pixel, which are then compared with the threshold.
    """
    model.eval()
    overlap, marked, lesions, pixels = 0.0, 0.0, 0.0, 0
    for scans, masks in loader:
        images = (255 * torch.sigmoid(model(scans.to(device)))).byte().cpu()
        marks = images / 255 > threshold
        overlap += (marks * masks).sum().item()
        marked += marks.sum().item()
        lesions += masks.sum().item()
        pixels += masks.numel()
    return 2 * overlap / (marked + lesions), marked / pixels


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    generator = torch.Generator().manual_seed(config["seed"])
    train_set = made_scans(config["scans"], config["size"], config["noise"], generator)
    train_loader = DataLoader(train_set, batch_size=config["batch_size"], shuffle=True)
    validation_set = made_scans(config["validation_scans"], config["size"], config["noise"], generator)
    validation_loader = DataLoader(validation_set, batch_size=config["batch_size"])

    model = UNet3Plus(config["channels"]).to(device)
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=config["learning_rate"], weight_decay=1e-8)

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, train_loader, criterion, optimizer, device)
        dice, marked = validate(model, validation_loader, config["threshold"], device)
        record = {"epoch": epoch, "loss": loss, "validation_dice": dice, "marked": marked}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
