"""Fine-tune a network from one property of electric circuits to another: first its new head, then all of it.

The network learns the impedance of simulated circuits (scikit-learn's second function of Friedman). Its body is kept
and frozen, and a new head learns the phase angle of other circuits from noisy measurements (Friedman's third). With the
second cycle of a cosine schedule with warm restarts the body is unfrozen. Every epoch of fine-tuning prints one JSON
object: the learning rates, the loss on the measurements, and the error on circuits whose phase angle is known exactly.
At the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the
`config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from sklearn.datasets import make_friedman2, make_friedman3
from torch import nn
from torch.nn.functional import mse_loss
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts


class Regressor(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.head = nn.Linear(hidden, 1)

    def forward(self, inputs):
        return self.head(self.body(inputs)).squeeze(1)


def circuits(make, samples, seed, device):
    """Properties of circuits and what follows from them, with a mean of 0 and a standard deviation of 1."""
    columns = [torch.tensor(column, dtype=torch.float32) for column in make(samples, random_state=seed)]
    return [((column - column.mean(0)) / column.std(0)).to(device) for column in columns]


def train_epoch(model, inputs, targets, optimizer, batch_size):
    total = 0.0
    for batch in torch.randperm(len(inputs)).to(inputs.device).split(batch_size):
        loss = mse_loss(model(inputs[batch]), targets[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(inputs)


def unfreeze(body, scheduler, learning_rate):
    body.requires_grad_(True)
    scheduler.optimizer.add_param_group({"params": body.parameters(), "lr": learning_rate})


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    inputs, impedance = circuits(make_friedman2, config["samples"], 2 * config["seed"], device)
    model = Regressor(inputs.shape[1], config["hidden"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for _ in range(config["source_epochs"]):
        loss = train_epoch(model, inputs, impedance, optimizer, config["batch_size"])
    print(f"impedance: loss {loss:.4f}", file=sys.stderr)

    inputs, phase = circuits(make_friedman3, config["samples"] + config["held_out"], 2 * config["seed"] + 1, device)
    measured = phase + config["noise"] * torch.randn(len(phase)).to(device)
    held_out = slice(config["samples"], None)

    model.body.requires_grad_(False)
    model.head = nn.Linear(config["hidden"], 1).to(device)
    optimizer = torch.optim.SGD(model.head.parameters(), lr=config["learning_rate"], momentum=0.9)
    scheduler = CosineAnnealingWarmRestarts(optimizer, T_0=config["first_cycle"], T_mult=2)

    records = []
    for epoch in range(1, 3 * config["first_cycle"] + 1):
        if epoch == config["first_cycle"] + 1:
            unfreeze(model.body, scheduler, config["learning_rate"])
        rates = [group["lr"] for group in optimizer.param_groups]
        loss = train_epoch(
            model, inputs[: config["samples"]], measured[: config["samples"]], optimizer, config["batch_size"]
        )
        scheduler.step()
        with torch.no_grad():
            error = mse_loss(model(inputs[held_out]), phase[held_out]).item()
        record = {
            "epoch": epoch,
            "cycle": 1 if epoch <= config["first_cycle"] else 2,
            "head_rate": rates[0],
            "body_rate": rates[1] if len(rates) > 1 else 0.0,
            "loss": loss,
            "validation_loss": error,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
