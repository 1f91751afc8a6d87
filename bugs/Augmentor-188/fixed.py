"""Train a small network to find the layers of a retina in made scans, from few of them that are distorted at random.

Every few epochs the layers of held-out scans are found, and one JSON object is printed. At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy, grid_sample, interpolate

LAYERS = 4


class Distortion:
    """Elastic distortions: a coarse grid of random shifts, of up to `magnitude` pixels."""

    def __init__(self, probability, grid, magnitude):
        self.probability, self.grid, self.magnitude = probability, grid, magnitude

    def perform_operation(self, images):
        """Distort the images of a list, such as a scan and its mask."""
        shifts = self.magnitude * (2 * torch.rand(1, 2, self.grid, self.grid) - 1)

        def do(image):
            return distorted(image, shifts)

        return [do(image) for image in images]


def distorted(image, shifts):
    """The image with each pixel taken from where the shifts, in pixels, say; labels are not mixed."""
    height, width = image.shape[-2:]
    field = interpolate(shifts, size=(height, width), mode="bilinear", align_corners=True)
    rows, columns = torch.meshgrid(torch.linspace(-1, 1, height), torch.linspace(-1, 1, width), indexing="ij")
    places = torch.stack((columns + 2 * field[0, 0] / (width - 1), rows + 2 * field[0, 1] / (height - 1)), -1)
    mode = "bilinear" if image.is_floating_point() else "nearest"
    values = grid_sample(image[None, None].float(), places[None], mode, padding_mode="border", align_corners=True)
    return values[0, 0].to(image.dtype)


class Scans(torch.utils.data.Dataset):
    """Scans and the masks of their layers, distorted anew each time they are read."""

    def __init__(self, scans, masks, operation=None):
        self.scans, self.masks, self.operation = scans, masks, operation

    def __len__(self):
        return len(self.scans)

    def __getitem__(self, index):
        pair = [self.scans[index], self.masks[index]]
        if self.operation and torch.rand(()) < self.operation.probability:
            pair = self.operation.perform_operation(pair)
        return pair


def made_scans(count, size, noise, generator):
    """Scans with vitreous body, retina, a thin bright layer and choroid, from top to bottom, and masks of these."""

    def waves(low, high):
        heights = low + (high - low) * torch.rand(count, 1, 5, generator=generator)
        return interpolate(heights, size=size, mode="linear", align_corners=True)

    top = waves(0.15, 0.45) * size
    middle = top + waves(0.2, 0.35) * size
    bottom = middle + waves(3, 4)
    rows = torch.arange(size).view(1, size, 1)
    masks = (rows >= top).long() + (rows >= middle) + (rows >= bottom)
    brightness = torch.tensor([0.0, 0.4, 1.0, 0.6])[masks]
    return brightness + noise * torch.randn(masks.shape, generator=generator), masks


def network(channels, dilations):
    layers, inputs = [], 1
    for dilation in dilations:
        layers.append(nn.Conv2d(inputs, channels, 3, padding=dilation, dilation=dilation))
        layers += [nn.BatchNorm2d(channels), nn.ReLU()]
        inputs = channels
    return nn.Sequential(*layers, nn.Conv2d(channels, LAYERS, 1))


@torch.no_grad()
def validate(model, loader, device):
    """The intersection over union of each layer, of all scans together."""
    model.eval()
    confusion = torch.zeros(LAYERS, LAYERS)
    for scans, masks in loader:
        found = model(scans.unsqueeze(1).to(device)).argmax(1).cpu()
        confusion += torch.bincount((LAYERS * masks + found).flatten(), minlength=LAYERS**2).view(LAYERS, LAYERS)
    both = confusion.diag()
    return (both / (confusion.sum(0) + confusion.sum(1) - both)).tolist()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    generator = torch.Generator().manual_seed(config["seed"])
    operation = Distortion(config["probability"], config["grid"], config["magnitude"])
    train_set = Scans(*made_scans(config["scans"], config["size"], config["noise"], generator), operation)
    train_loader = torch.utils.data.DataLoader(train_set, config["batch_size"], shuffle=True)
    validation_set = Scans(*made_scans(config["validation_scans"], config["size"], config["noise"], generator))
    validation_loader = torch.utils.data.DataLoader(validation_set, config["batch_size"])

    model = network(config["channels"], (1, 2, 4, 2, 1)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records, losses = [], []
    for epoch in range(1, config["num_epoch"] + 1):
        model.train()
        for scans, masks in train_loader:
            loss = cross_entropy(model(scans.unsqueeze(1).to(device)), masks.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if epoch % config["validate_every"]:
            continue
        overlap = validate(model, validation_loader, device)
        record = {
            "epoch": epoch,
            "loss": sum(losses) / len(losses),
            "overlap": sum(overlap) / LAYERS,
            "thin_overlap": overlap[2],
        }
        print(json.dumps(record), flush=True)
        records.append(record)
        losses.clear()
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
