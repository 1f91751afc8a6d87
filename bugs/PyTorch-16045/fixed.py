"""Fit a linear regression by gradient descent on the mean squared error.

Every step prints one JSON object: the loss, the coefficients found so far, and how well they predict samples held out
(the mean squared error, and R2: the share of the variance that is explained). At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn

COEFFICIENTS = (9.0, -2.0)
INTERCEPT = 10.0


def make_samples(count, device):
    """Inputs of shape (count, 2), and what is to be predicted, of shape (count,)."""
    x = torch.randn(count, 2)
    y = INTERCEPT + x @ torch.tensor(COEFFICIENTS) + torch.randn(count)
    return x.to(device), y.to(device)


@torch.no_grad()
def evaluate(model, x, y):
    residuals = model(x).flatten() - y
    return residuals.square().mean().item(), 1 - (residuals.var(unbiased=False) / y.var(unbiased=False)).item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    x, y = make_samples(config["samples"], device)
    validation = make_samples(config["validation_samples"], device)
    model = nn.Linear(2, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=config["learning_rate"])

    records = []
    for step in range(1, config["steps"] + 1):
        optimizer.zero_grad()
        prediction = model(x)
        loss = (prediction - y.unsqueeze(1)).square().mean()
        loss.backward()
        optimizer.step()
        validation_error, validation_r2 = evaluate(model, *validation)
        record = {
            "step": step,
            "loss": loss.item(),
            "first_coefficient": model.weight[0, 0].item(),
            "second_coefficient": model.weight[0, 1].item(),
            "intercept": model.bias.item(),
            "validation_error": validation_error,
            "validation_r2": validation_r2,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
