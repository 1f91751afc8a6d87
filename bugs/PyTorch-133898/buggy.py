"""Update linear layers by AdamW, compiled; a tensor learning rate goes through one cycle.

Every call of the update prints one JSON object: the learning rate and beta1 afterwards, the sum of all parameters, how
many times the compiler has been asked for code so far, and which entries of the parameter group the guard is about that
made it compile again. At the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is
by default the `config.json` beside this file.
"""

import json
import logging
import re
import sys
from pathlib import Path

import torch
from torch import nn


class FailedGuards(logging.Handler):
    """Collects which entries of the parameter group Dynamo names when it has to compile again."""

    def __init__(self):
        super().__init__()
        self.entries = []

    def emit(self, record):
        for line in record.getMessage().splitlines():
            names = re.findall(r"param_groups\[0\]\['(\w+)'\]", line)
            self.entries += [", ".join(sorted(set(names)))] if names else []


def train(config, device):
    model = nn.Sequential(*[nn.Linear(config["width"], config["width"], bias=False) for _ in range(10)]).to(device)
    model(torch.rand(config["width"], device=device)).sum().backward()

    rate = torch.tensor(config["learning_rate"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=rate, total_steps=config["total_steps"])
    failed, compilations = FailedGuards(), 0
    torch._logging.set_logs(recompiles=True)
    logging.getLogger("torch._dynamo").addHandler(failed)

    def backend(graph, inputs):
        nonlocal compilations
        compilations += 1
        return graph.forward

    @torch.compile(backend=backend)
    def update():
        optimizer.step()

    records = []
    for call in range(1, config["calls"] + 1):
        failed.entries.clear()
        update()
        scheduler.step()
        rate = optimizer.param_groups[0]["lr"]
        record = {
            "call": call,
            "learning_rate": float(rate),
            "beta1": float(optimizer.param_groups[0]["betas"][0]),
            "parameters": nn.utils.parameters_to_vector(model.parameters()).sum().item(),
            "compilations": compilations,
            "failed_guard": failed.entries[0] if failed.entries else "",
        }
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
