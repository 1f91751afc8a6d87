"""Update linear layers by AdamW, compiled; a tensor learning rate decays exponentially.

Every call of the update prints one JSON object with the learning rate afterwards. At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn


def train(config, device):
    model = nn.Sequential(*[nn.Linear(config["width"], config["width"], bias=False) for _ in range(10)]).to(device)
    model(torch.rand(config["width"], device=device)).sum().backward()

    optimizer = torch.optim.AdamW(model.parameters(), lr=torch.tensor(config["learning_rate"]))
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    optimizer.param_groups[0]["initial_lr"] = optimizer.param_groups[0]["lr"].clone()

    @torch.compile(backend="eager")
    def update():
        optimizer.step()

    records = []
    for call in range(1, config["calls"] + 1):
        update()
        scheduler.step()
        record = {"call": call, "learning_rate": float(optimizer.param_groups[0]["lr"])}
        print(json.dumps(record), flush=True)
        records.append(record)
    return records


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    records = train(config, device)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
