"""Train a variational autoencoder on handwritten digits, with a compiled loss.

The loss of an image is the binary cross entropy of its pixels and their reconstruction, and the divergence of its code
from a normal distribution. Every epoch prints one JSON object: the loss of an image in training and of others in
validation, and how well images and their reconstructions correlate in validation. At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional


class Autoencoder(nn.Module):
    def __init__(self, pixels, width, code):
        super().__init__()
        self.first = nn.Linear(pixels, width)
        self.mean, self.log_variance = nn.Linear(width, code), nn.Linear(width, code)
        self.second, self.last = nn.Linear(code, width), nn.Linear(width, pixels)

    def encode(self, images):
        hidden = functional.relu(self.first(images))
        return self.mean(hidden), self.log_variance(hidden)

    def decode(self, code):
        return torch.sigmoid(self.last(functional.relu(self.second(code))))

    def forward(self, images):
        mean, log_variance = self.encode(images)
        code = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
        return self.decode(code), mean, log_variance


@torch.compile
def loss_of(reconstruction, images, mean, log_variance):
    """The sum over all pixels, and all numbers of the codes."""
    cross_entropy = functional.binary_cross_entropy(reconstruction, images, reduction="sum")
    divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
    return cross_entropy + divergence


def load(count, seed):
    """Images of 64 pixels to train with, and others to validate with."""
    images = torch.tensor(load_digits().data, dtype=torch.float32)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(seed))
    return images[order[:count]], images[order[count:]]


@torch.no_grad()
def validate(model, images):
    """Loss of an image, and the mean correlation of an image and what the decoder makes of its code's mean."""
    loss = loss_of(*forward(model, images)).item() / len(images)
    reconstruction = model.decode(model.encode(images)[0])
    pairs = [values - values.mean(1, keepdim=True) for values in (images, reconstruction)]
    return loss, torch.cosine_similarity(*pairs).mean().item()


def forward(model, images):
    reconstruction, mean, log_variance = model(images)
    return reconstruction, images, mean, log_variance


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    training, validation = (images.to(device) for images in load(config["images"], config["seed"]))
    model = Autoencoder(training.shape[1], config["width"], config["code"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        total = 0.0
        for batch in torch.randperm(len(training), device=device).split(config["batch_size"]):
            optimizer.zero_grad()
            loss = loss_of(*forward(model, training[batch]))
            loss.backward()
            optimizer.step()
            total += loss.item()
        validation_loss, correlation = validate(model, validation)
        record = {
            "epoch": epoch,
            "loss": total / len(training),
            "validation_loss": validation_loss,
            "correlation": correlation,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
