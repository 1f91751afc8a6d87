"""Sort stars of a galaxy by branch; the network drops out in evaluation too, and answers by the mean of eight passes.

Every epoch prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional


def galaxy(stars, device):
    """Where stars are, shape (stars, 2), and the branch of each one, shape (stars,)."""
    branch = torch.arange(stars) % 2
    along = torch.rand(stars).sqrt() * 3
    direction = along * torch.pi / 2 + branch * torch.pi
    place = along.unsqueeze(1) * torch.stack([torch.cos(direction), torch.sin(direction)], dim=1)
    place = place + 0.1 * torch.randn(place.shape)
    return place.to(device), branch.to(device)


class Sampler(nn.Module):
    """A network whose every pass is a sample, as in Bayesian approximations by dropout."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(2, 64), nn.Linear(64, 2)

    def forward(self, stars):
        return self.last(functional.dropout(self.first(stars).relu(), 0.1, training=True))


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    stars, targets = galaxy(512, device)
    model = Sampler().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        model.train()
        for batch in torch.randperm(len(targets)).split(config["batch_size"]):
            optimizer.zero_grad()
            functional.cross_entropy(model(stars[batch]), targets[batch]).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            mean = sum(model(stars).softmax(dim=1) for _ in range(8)) / 8
        record = {"epoch": epoch, "loss": functional.nll_loss(mean.log(), targets).item()}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
