"""Train a small vision transformer of timm, without embedded positions, on handwritten digits.

Every epoch prints one JSON object: the loss in training, and loss and accuracy in validation. At the end all of them go
to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import digits
import torch
from timm.models.vision_transformer import VisionTransformer
from torch import nn


def train_epoch(model, data, optimizer, criterion, batch_size):
    model.train()
    images, labels = data
    loss_sum = 0.0
    for batch in torch.randperm(len(labels)).to(labels.device).split(batch_size):
        optimizer.zero_grad()
        loss = criterion(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        loss_sum += loss.detach() * len(batch)
    return float(loss_sum) / len(labels)


@torch.no_grad()
def evaluate(model, data, criterion):
    model.eval()
    images, labels = data
    prediction = model(images)
    return criterion(prediction, labels).item(), (prediction.argmax(1) == labels).float().mean().item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    train, validation = digits.load(device)
    model = VisionTransformer(
        img_size=8,
        patch_size=2,
        in_chans=1,
        embed_dim=64,
        depth=2,
        num_heads=4,
        num_classes=10,
        pos_embed="none",
    ).to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, train, optimizer, criterion, config["batch_size"])
        validation_loss, validation_accuracy = evaluate(model, validation, criterion)
        record = {
            "epoch": epoch,
            "loss": loss,
            "validation_loss": validation_loss,
            "validation_accuracy": validation_accuracy,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
