"""Train a small convolutional network to tell the depth of each pixel from one photograph, and test it on others.

The test photographs are from two cameras, and are brought to the size of the training images. Each epoch prints one
JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by
default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch
from scenes import img_as_float, photographs, resize
from torch import nn
from torch.nn.functional import interpolate


def convolution(inputs, outputs, stride=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1), nn.BatchNorm2d(outputs), nn.ReLU())


class DepthNet(nn.Module):
    """One over the depth, between 0 and 1, from coarse features and fine ones."""

    def __init__(self, width):
        super().__init__()
        self.fine = convolution(3, width)
        self.middle = nn.Sequential(convolution(width, 2 * width, 2), convolution(2 * width, 2 * width))
        self.coarse = nn.Sequential(convolution(2 * width, 4 * width, 2), convolution(4 * width, 2 * width))
        self.merge_middle = convolution(4 * width, width)
        self.merge_fine = convolution(2 * width, width)
        self.disparity = nn.Conv2d(width, 1, 1)

    def forward(self, images):
        fine = self.fine(images)
        middle = self.middle(fine)
        coarse = interpolate(self.coarse(middle), scale_factor=2.0)
        middle = interpolate(self.merge_middle(torch.cat([middle, coarse], 1)), scale_factor=2.0)
        return self.disparity(self.merge_fine(torch.cat([fine, middle], 1))).squeeze(1).sigmoid()


def normalise(images):
    """From 0 to 1 -> from -1 to 1."""
    return (images - 0.5) / 0.5


def training_tensors(pairs, device):
    images = img_as_float(np.stack([image for image, _ in pairs])).transpose(0, 3, 1, 2)
    depths = np.stack([depth for _, depth in pairs])
    return normalise(torch.from_numpy(images).float()).to(device), torch.from_numpy(depths).to(device)


def load(image, size, device):
    """A photograph of any camera as a batch of one image."""
    image = img_as_float(image)
    if image.shape[:2] != size:
        image = resize(image, size)
    tensor = torch.from_numpy(image.transpose(2, 0, 1).astype(np.float32)).unsqueeze(0)
    return normalise(tensor).to(device)


def train_epoch(model, images, depths, optimizer, batch_size):
    model.train()
    losses = []
    for batch in torch.randperm(len(images)).to(images.device).split(batch_size):
        loss = (model(images[batch]) - 1 / depths[batch]).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


@torch.no_grad()
def test(model, pairs, size, device):
    """The mean error of the depth, as a share of the depth."""
    model.eval()
    errors = []
    for image, depth in pairs:
        disparity = model(load(image, size, device))
        predicted = 1 / interpolate(disparity.unsqueeze(1), depth.shape).squeeze(1).clamp(min=0.01)
        true = torch.from_numpy(depth).to(device)
        errors.append(((predicted - true).abs() / true).mean().item())
    return sum(errors) / len(errors)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    generator = np.random.default_rng(config["seed"])
    side = config["side"]
    images, depths = training_tensors(photographs(config["photographs"], [side], generator), device)
    test_pairs = photographs(config["test_photographs"], [side, 2 * side], generator)
    model = DepthNet(config["width"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, images, depths, optimizer, config["batch_size"])
        error = test(model, test_pairs, (side, side), device)
        record = {"epoch": epoch, "loss": loss, "test_error": error}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
