"""Train a small U-Net in mixed precision to find discs in noisy images, and validate it before and after each epoch.

Each validation prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.utils.data import DataLoader, TensorDataset


def double_conv(inputs, outputs):
    """Two convolutions, each with batch normalisation and ReLU."""
    layers = []
    for channels in (inputs, outputs):
        layers += [nn.Conv2d(channels, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """Two steps down to a quarter of the size and two up again, each of which sees what was there on the way down."""

    def __init__(self, channels):
        super().__init__()
        self.top = double_conv(1, channels)
        self.middle = double_conv(channels, 2 * channels)
        self.bottom = double_conv(2 * channels, 4 * channels)
        self.up_middle = nn.ConvTranspose2d(4 * channels, 2 * channels, 2, stride=2)
        self.out_middle = double_conv(4 * channels, 2 * channels)
        self.up_top = nn.ConvTranspose2d(2 * channels, channels, 2, stride=2)
        self.out_top = double_conv(2 * channels, channels)
        self.output = nn.Conv2d(channels, 1, 1)
        self.pool = nn.MaxPool2d(2)

    def forward(self, images):
        top = self.top(images)
        middle = self.middle(self.pool(top))
        bottom = self.bottom(self.pool(middle))
        middle = self.out_middle(torch.cat((middle, self.up_middle(bottom)), 1))
        top = self.out_top(torch.cat((top, self.up_top(middle)), 1))
        return self.output(top)


def discs(count, size, noise, generator):
    """Images of two discs each, whose background gets brighter from side to side, and the masks of the discs."""
    rows, columns = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    masks = torch.zeros(count, 1, size, size)
    for _ in range(2):
        row, column = size * torch.rand(2, count, 1, 1, 1, generator=generator)
        radius = size * (0.1 + 0.1 * torch.rand(count, 1, 1, 1, generator=generator))
        masks[(rows - row) ** 2 + (columns - column) ** 2 < radius**2] = 1
    slope = torch.rand(count, 1, 1, 1, generator=generator) * columns / size
    return TensorDataset(masks + slope + noise * torch.randn(masks.shape, generator=generator), masks)


def dice_loss(predictions, masks):
    """One minus twice the overlap of prediction and mask, as a share of what both cover."""
    return 1 - (2 * (predictions * masks).sum() + 1) / (predictions.sum() + masks.sum() + 1)


@torch.no_grad()
def validate(model, loader, device):
    """The Dice score of all images together."""
    model.eval()
    overlap, total = 0.0, 0.0
    for images, masks in loader:
        with torch.autocast(device):
            predictions = model(images.to(device)).float().cpu() > 0
        overlap += (predictions * masks).sum().item()
        total += (predictions.sum() + masks.sum()).item()
    return 2 * overlap / total


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    generator = torch.Generator().manual_seed(config["seed"])
    train_set = discs(config["images"], config["size"], config["noise"], generator)
    train_loader = DataLoader(train_set, batch_size=config["batch_size"], shuffle=True)
    validation_set = discs(config["validation_images"], config["size"], config["noise"], generator)
    validation_loader = DataLoader(validation_set, batch_size=config["batch_size"])

    model = UNet(config["channels"]).to(device)
    settings = {"lr": config["learning_rate"], "momentum": config["momentum"]}
    if config["optimizer"] == "RMSprop":
        optimizer = torch.optim.RMSprop(model.parameters(), weight_decay=1e-8, foreach=True, **settings)
    else:
        optimizer = torch.optim.SGD(model.parameters(), nesterov=True, **settings)
    scaler = torch.amp.GradScaler(device)

    records = [{"epoch": 0, "validation_dice": validate(model, validation_loader, device)}]
    print(json.dumps(records[0]), flush=True)
    for epoch in range(1, config["num_epoch"] + 1):
        model.train()
        losses = []
        for images, masks in train_loader:
            masks = masks.to(device)
            with torch.autocast(device):
                predictions = model(images.to(device)).float()
                loss = binary_cross_entropy_with_logits(predictions, masks) + dice_loss(predictions.sigmoid(), masks)
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            nn.utils.clip_grad_norm_(model.parameters(), config["max_norm"])
            scaler.step(optimizer)
            scaler.update()
            losses.append(loss.item())
        record = {
            "epoch": epoch,
            "loss": sum(losses) / len(losses),
            "validation_dice": validate(model, validation_loader, device),
            "scale": scaler.get_scale(),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
