"""Sort stars of a galaxy by branch; the uncertainty is the spread of ten passes with dropout, in evaluation mode.

Every epoch prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn


def galaxy(stars, device):
    """Where stars are, shape (stars, 2), and the branch of each one, shape (stars,)."""
    branch = torch.arange(stars) % 2
    along = torch.rand(stars).sqrt() * 3
    direction = along * torch.pi / 2 + branch * torch.pi
    place = along.unsqueeze(1) * torch.stack([torch.cos(direction), torch.sin(direction)], dim=1)
    place = place + 0.1 * torch.randn(place.shape)
    return place.to(device), branch.to(device)


@torch.no_grad()
def passes(model, stars):
    """Ten classifications of the same points, with the dropout layers alone in training mode."""
    model.eval()
    for layer in model.modules():
        if isinstance(layer, nn.Dropout):
            layer.train()
    return torch.stack([model(stars).softmax(dim=1) for _ in range(10)])


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    stars, targets = galaxy(512, device)
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 2)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    criterion = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        model.train()
        for chosen in torch.randperm(len(targets)).split(config["batch_size"]):
            optimizer.zero_grad()
            criterion(model(stars[chosen]), targets[chosen]).backward()
            optimizer.step()
        found = passes(model, stars)
        loss = nn.functional.nll_loss(found.mean(dim=0).log(), targets)
        record = {"epoch": epoch, "loss": loss.item(), "spread": found.std(dim=0).mean().item()}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
