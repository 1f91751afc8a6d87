"""A variational autoencoder, which draws its code at random in evaluation, too.

One JSON object is printed for each epoch; all of them go to `<output>.json` in the end. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional


def sample(count, device):
    """Positions in a plane, and on which of the two sides of a winding line each of them lies."""
    t = torch.rand(count).sqrt() * 3
    side = torch.tensor([0, 1]).repeat((count + 1) // 2)[:count]
    a = t * math.pi / 2 + math.pi * side
    position = torch.cat([(t * a.cos())[:, None], (t * a.sin())[:, None]], dim=1)
    return (position + 0.1 * torch.randn_like(position)).to(device), side.to(device)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 4))
        self.decoder = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, positions):
        mean, log_variance = self.encoder(positions).chunk(2, dim=1)
        code = mean + torch.randn_like(mean) * (log_variance / 2).exp()
        divergence = (mean.square() + log_variance.exp() - log_variance - 1).sum(dim=1).mean() / 2
        return self.decoder(code), divergence


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    positions, _ = sample(512, device)
    model = Autoencoder().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        model.train()
        for batch in torch.randperm(len(positions)).split(config["batch_size"]):
            optimizer.zero_grad()
            copy, divergence = model(positions[batch])
            (functional.mse_loss(copy, positions[batch]) + 0.001 * divergence).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            copy, divergence = model(positions)
            record = {
                "epoch": epoch,
                "loss": functional.mse_loss(copy, positions).item(),
                "divergence": divergence.item(),
            }
            print(json.dumps(record), flush=True)
            records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
