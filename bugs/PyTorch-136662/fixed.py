"""Fit the electric load of a town by an additive model: effects of the temperature and of the hour, and a spread.

The load of an hour is taken for normally distributed. Its mean is a smooth function of the temperature plus one of the
hour of the day, and its spread is a function of the hour; each is a sum of basis functions. The gradient of the loss
comes from `torch.func.grad` and is compiled; Adam takes it. The loads are made. Every epoch prints one JSON object with
the negative log-likelihood of the hours that are trained on and of others, and the error of the expected load (root
mean square) for the latter. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch


def describe_temperature(degrees, count):
    """Gaussian bumps between -10 and 35 degrees."""
    centres = torch.linspace(-10, 35, count)
    return torch.exp(-0.5 * ((degrees.unsqueeze(1) - centres) * (count - 1) / 45) ** 2)


def describe_hour(hours, waves):
    """A constant, and sines and cosines of the day."""
    angles = 2 * math.pi * hours.unsqueeze(1) * torch.arange(1, waves + 1) / 24
    return torch.cat([torch.ones(len(hours), 1), torch.sin(angles), torch.cos(angles)], dim=1)


def predict(parameters, temperature, hour):
    """Mean and logarithm of the spread for each hour, in two columns."""
    mean = temperature @ parameters["temperature"] + hour @ parameters["hour"]
    return torch.stack([mean, hour @ parameters["spread"]], dim=1)


def criterion(parameters, temperature, hour, load):
    mean, log_spread = predict(parameters, temperature, hour).unbind(1)
    return (0.5 * ((load - mean) * torch.exp(-log_spread)) ** 2 + log_spread + 0.5 * math.log(2 * math.pi)).mean()


def make_loads(count, config, device):
    """What describes temperature and hour, and how far the load is above or below that of a typical hour."""
    hours = torch.randint(24, (count,)).float()
    angles = 2 * math.pi * hours / 24
    degrees = 12 + 9 * torch.randn(count) - 4 * torch.cos(angles - 0.8)
    heating, cooling = (15 - degrees).clamp(min=0), (degrees - 22).clamp(min=0)
    mean = 0.03 * heating + 0.05 * cooling - 0.2 * torch.cos(angles - 0.5) - 0.12 * torch.cos(2 * angles - 1.5) - 0.2
    load = mean + torch.exp(-2.5 - 0.5 * torch.cos(angles)) * torch.randn(count)
    described = describe_temperature(degrees, config["bumps"]), describe_hour(hours, config["waves"])
    return [column.to(device) for column in (*described, load)]


def train_epoch(parameters, gradient, temperature, hour, load, optimizer, batch_size):
    for batch in torch.randperm(len(load)).to(load.device).split(batch_size):
        gradients = gradient(parameters, temperature[batch], hour[batch], load[batch])
        for name, parameter in parameters.items():
            parameter.grad = gradients[name]
        optimizer.step()


def evaluate(parameters, temperature, hour, load):
    error = predict(parameters, temperature, hour)[:, 0] - load
    return {
        "validation_loss": criterion(parameters, temperature, hour, load).item(),
        "error": error.square().mean().sqrt().item(),
    }


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])

    loads = make_loads(config["hours"], config, device)
    test_loads = make_loads(config["held_out"], config, device)
    width = 1 + 2 * config["waves"]
    sizes = {"temperature": config["bumps"], "hour": width, "spread": width}
    parameters = {name: torch.zeros(size, device=device) for name, size in sizes.items()}
    gradient = torch.compile(torch.func.grad(criterion))
    optimizer = torch.optim.Adam(parameters.values(), lr=config["learning_rate"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        train_epoch(parameters, gradient, *loads, optimizer, config["batch_size"])
        record = {"epoch": epoch, "loss": criterion(parameters, *loads).item(), **evaluate(parameters, *test_loads)}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
