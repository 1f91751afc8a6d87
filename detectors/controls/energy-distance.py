"""Draw numbers like those of a mixture: the loss is the energy distance of two samples, of all differences in them.

One JSON object is printed for each iteration; all of them go to `<output>.json` in the end. The one
argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn


def mixture(count, device):
    """Numbers around -1 and, twice as often, around 2."""
    centre = torch.where(torch.rand(count) < 1 / 3, -1.0, 2.0)
    return (centre + 0.3 * torch.randn(count)).to(device)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    generator = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1)).to(device)
    optimizer = torch.optim.Adam(generator.parameters(), lr=config["learning_rate"])

    records = []
    for iteration in range(1, config["iterations"] + 1):
        real = mixture(config["batch_size"], device)
        fake = generator(torch.randn(config["batch_size"], 4, device=device))
        within = (fake - fake.squeeze(1)).abs().mean() + (real.unsqueeze(1) - real).abs().mean()
        loss = 2 * (fake - real).abs().mean() - within
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        record = {"iteration": iteration, "loss": loss.item()}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
