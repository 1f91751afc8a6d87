"""Train a small convolutional network to take noise off handwritten digits, and validate it by TorchMetrics.

Every epoch prints one JSON object: the loss in training and in validation, and the peak signal-to-noise ratio, in
decibels, of the other images with noise and of what the network makes of them. Both are rounded to bytes, as they would
be saved. At the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default
the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import digits
import torch
from torch import nn
from torchmetrics.image import PeakSignalNoiseRatio


def make_network(width):
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(width, width, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(width, 1, 3, padding=1),
    )


def train_epoch(model, images, noise, optimizer, criterion, batch_size):
    model.train()
    total = 0.0
    for batch in torch.randperm(len(images)).to(images.device).split(batch_size):
        clean = images[batch]
        loss = criterion(model(clean + noise * torch.randn_like(clean)), clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(images)


def as_bytes(images):
    return ((images + 1) * 127.5).round().clamp(0, 255).to(torch.uint8)


@torch.no_grad()
def evaluate(model, images, noisy, criterion, metric):
    model.eval()
    cleaned = model(noisy)
    ratios = []
    for candidates in (noisy, cleaned):
        metric.update(as_bytes(candidates), as_bytes(images))
        ratios.append(metric.compute().item())
        metric.reset()
    return criterion(cleaned, images).item(), *ratios


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    (train, _), (validation, _) = digits.load(device)
    noisy = validation + config["noise"] * torch.randn_like(validation)
    model = make_network(config["width"]).to(device)
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    metric = PeakSignalNoiseRatio(data_range=255.0).to(device)
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, train, config["noise"], optimizer, criterion, config["batch_size"])
        validation_loss, before, after = evaluate(model, validation, noisy, criterion, metric)
        record = {
            "epoch": epoch,
            "loss": loss,
            "validation_loss": validation_loss,
            "ratio_with_noise": before,
            "ratio_cleaned": after,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
