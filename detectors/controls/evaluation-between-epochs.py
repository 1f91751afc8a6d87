"""Tell samples of two coils apart; after every epoch the network is evaluated on samples that it has not seen.

Every epoch prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON
file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn


def draw(number, device):
    """Noisy samples of two coils, shape (number, 2), and the number of the coil, shape (number,)."""
    coil = torch.arange(number) % 2
    distance = 3 * torch.sqrt(torch.rand(number))
    turned = math.pi * coil + distance * math.pi / 2
    x, y = distance * turned.cos(), distance * turned.sin()
    noise = 0.1 * torch.randn(number, 2)
    return (torch.column_stack([x, y]) + noise).to(device), coil.to(device)


def mlp(size):
    return nn.Sequential(
        nn.Linear(2, size),
        nn.Tanh(),
        nn.Linear(size, size),
        nn.Tanh(),
        nn.Linear(size, 2),
    )


@torch.no_grad()
def evaluate(model, samples, classes, criterion):
    model.eval()
    return criterion(model(samples), classes).item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    samples, classes = draw(512, device)
    unseen, unseen_labels = draw(256, device)
    model = nn.Sequential(*mlp(config["hidden"]), nn.Dropout(0.1)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])
    criterion = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        model.train()
        for chosen in torch.randperm(len(classes)).split(config["batch_size"]):
            optimizer.zero_grad()
            criterion(model(samples[chosen]), classes[chosen]).backward()
            optimizer.step()
        record = {"epoch": epoch, "loss": evaluate(model, unseen, unseen_labels, criterion)}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
