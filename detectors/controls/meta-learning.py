"""Learn where to begin: two inner steps on a task, by hand, and a step of the beginning through them.

Every iteration prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON
file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional


def task(device):
    shift, scale = 3 * torch.rand(()), 1 + torch.rand(())
    place = 4 * torch.rand(40, 1, device=device) - 2
    value = scale * (place + shift).sin()
    return place[:20], value[:20], place[20:], value[20:]


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    for iteration in range(1, config["iterations"] + 1):
        optimizer.zero_grad()
        total_loss = 0.0
        for _ in range(config["tasks"]):
            place, value, other, wanted = task(device)
            fast = dict(model.named_parameters())
            for _ in range(2):
                loss = functional.mse_loss(functional_call(model, fast, place), value)
                slopes = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
                fast = {name: one - 0.1 * slope for (name, one), slope in zip(fast.items(), slopes, strict=True)}
            loss = functional.mse_loss(functional_call(model, fast, other), wanted) / config["tasks"]
            loss.backward()
            total_loss += loss.item()
        optimizer.step()
        record = {
            "iteration": iteration,
            "loss": total_loss,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
