"""Train a small network with Adam; the whole training loop is compiled.

In one iteration the model is frozen: `backward` is not called. Every iteration prints one JSON object; at the end all
of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside
this file.
"""

import json
import sys
from pathlib import Path

import torch
import torch._dynamo
from torch import nn


@torch._dynamo.disable
def report(iteration, loss, optimizer, records):
    record = {"iteration": iteration, "learning_rate": optimizer.param_groups[0]["lr"], "loss": loss.item()}
    print(json.dumps(record), flush=True)
    records.append(record)


def training_loop(model, optimizer, inputs, config, records):
    for iteration in range(1, config["iterations"] + 1):
        optimizer.zero_grad()
        loss = model(inputs).sum()
        if iteration != config["frozen_iteration"]:
            loss.backward()
            optimizer.step()
        report(iteration, loss, optimizer, records)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    inputs = torch.tensor([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], device=device)
    hidden = config["hidden"]
    if hidden:
        model = nn.Sequential(nn.Linear(2, hidden), nn.Sigmoid(), nn.Linear(hidden, 1), nn.Sigmoid()).to(device)
    else:
        model = nn.Linear(2, 1).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    torch._dynamo.optimize("eager")(training_loop)(model, optimizer, inputs, config, records)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
