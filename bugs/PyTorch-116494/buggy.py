"""Fit a linear regression by gradient descent with the gradient in closed form, and a compiled optimizer step.

The closure computes the loss and sets `.grad` of the parameters itself; nothing is differentiated by PyTorch. As in
`torch.optim`, the optimizer calls the closure before it updates. Every iteration prints one JSON object; at the end all
of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside
this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn


def make_data(config, device):
    inputs = torch.randn(config["samples"], config["features"])
    targets = inputs @ torch.randn(config["features"], 1) + 1 + 0.1 * torch.randn(config["samples"], 1)
    return inputs.to(device), targets.to(device)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    inputs, targets = make_data(config, device)
    model = nn.Linear(config["features"], 1).to(device)
    if config["zero_gradients_first"]:
        for parameter in model.parameters():
            parameter.grad = torch.zeros_like(parameter)
    optimizer = torch.optim.SGD(model.parameters(), lr=config["learning_rate"])

    def closure():
        residual = (model(inputs) - targets).detach()
        model.weight.grad = 2 * residual.T @ inputs / len(inputs)
        model.bias.grad = 2 * residual.mean(0)
        return residual.square().mean()

    @torch.compile(backend="eager")
    def update(closure=None):
        return optimizer.step(closure)

    records = []
    for iteration in range(1, config["iterations"] + 1):
        loss = update(closure)
        gradient = torch.cat([parameter.grad.flatten() for parameter in model.parameters()])
        record = {"iteration": iteration, "loss": loss.item(), "gradient": gradient.norm().item()}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
