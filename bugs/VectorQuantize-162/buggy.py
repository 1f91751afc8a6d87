"""Teach a small autoencoder with a residual vector quantizer to draw digits, after the example of the package.

Every hundred iterations print one JSON object: the mean absolute error of the
drawings in training, and that of other digits in evaluation. At the end all of them go to `<output>.json`. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from vector_quantize_pytorch import ResidualVQ


class AutoEncoder(nn.Module):
    """Convolutions around a residual vector quantizer, which describes each quarter of a picture by some codes."""

    def __init__(self, config):
        super().__init__()
        width = config["width"]
        self.encoder = nn.Sequential(
            nn.Conv2d(1, width // 2, 3, padding=1),
            nn.MaxPool2d(2),
            nn.GELU(),
            nn.Conv2d(width // 2, width, 3, padding=1),
            nn.MaxPool2d(2),
        )
        self.quantizer = ResidualVQ(
            dim=width,
            num_quantizers=config["quantizers"],
            codebook_size=config["codebook_size"],
            shared_codebook=True,
            accept_image_fmap=True,
        )
        self.decoder = nn.Sequential(
            nn.Upsample(scale_factor=2, mode="nearest"),
            nn.Conv2d(width, width // 2, 3, padding=1),
            nn.GELU(),
            nn.Upsample(scale_factor=2, mode="nearest"),
            nn.Conv2d(width // 2, 1, 3, padding=1),
        )

    def forward(self, pictures):
        quantized, codes, commitment = self.quantizer(self.encoder(pictures))
        return self.decoder(quantized).clamp(-1, 1), codes, commitment


def load_pictures(seed, validation):
    """Digits of 8 by 8 pixels, from -1 to 1: some for training, and others."""
    digits = torch.tensor(load_digits().images, dtype=torch.float32).unsqueeze(1) / 8 - 1
    digits = digits[torch.randperm(len(digits), generator=torch.Generator().manual_seed(seed))]
    return digits[validation:], digits[:validation]


def train(model, batches, optimizer, iterations, commitment_weight, device):
    model.train()
    total = 0.0
    for _ in range(iterations):
        (pictures,) = next(batches)
        pictures = pictures.to(device)
        optimizer.zero_grad()
        drawings, _, commitment = model(pictures)
        error = (drawings - pictures).abs().mean()
        (error + commitment_weight * commitment.mean()).backward()
        optimizer.step()
        total += error.item() / iterations
    return total


@torch.no_grad()
def evaluate(model, pictures):
    model.eval()
    drawings, codes, _ = model(pictures)
    return {
        "validation_error": (drawings - pictures).abs().mean().item(),
        "codes_used": codes.unique().numel(),
    }


def repeat(loader):
    while True:
        yield from loader


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    train_pictures, other_pictures = load_pictures(config["seed"], config["validation_pictures"])
    other_pictures = other_pictures.to(device)
    loader = DataLoader(TensorDataset(train_pictures), batch_size=config["batch_size"], shuffle=True, drop_last=True)
    batches = repeat(loader)

    model = AutoEncoder(config).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])
    records = []
    for iteration in range(100, config["iterations"] + 1, 100):
        error = train(model, batches, optimizer, 100, config["commitment_weight"], device)
        record = {"iteration": iteration, "error": error}
        record.update(evaluate(model, other_pictures))
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
