"""Update a stack of linear layers by Adam, with a learning rate that a scheduler warms up; the update is compiled.

Every call of the update prints one JSON object: the learning rate that the scheduler has set and the seconds of the
call. At the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the
`config.json` beside this file.
"""

import json
import sys
import time
from pathlib import Path

import torch
from torch import nn


def train(config, device):
    model = nn.Sequential(*[nn.Linear(config["width"], config["width"], bias=False) for _ in range(10)]).to(device)
    model(torch.rand(config["width"], device=device)).sum().backward()

    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=5)

    @torch.compile(fullgraph=False, backend=config["backend"])
    def update():
        optimizer.step()
        scheduler.step()

    records = []
    for call in range(1, 6):
        start = time.perf_counter()
        update()
        seconds = time.perf_counter() - start
        record = {"call": call, "learning_rate": float(optimizer.param_groups[0]["lr"]), "seconds": seconds}
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
