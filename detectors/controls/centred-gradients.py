"""Tell samples of two coils apart with an Adam that centres the gradients of matrices before its step.

Every epoch prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON
file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn


def draw(number, device):
    """Noisy samples of two coils, shape (number, 2), and the number of the coil, shape (number,)."""
    coil = torch.arange(number) % 2
    distance = 3 * torch.sqrt(torch.rand(number))
    turned = math.pi * coil + distance * math.pi / 2
    x, y = distance * turned.cos(), distance * turned.sin()
    noise = 0.1 * torch.randn(number, 2)
    return (torch.column_stack([x, y]) + noise).to(device), coil.to(device)


class CentredAdam(torch.optim.Adam):
    """Gradient centralisation (Yong et al. 2020)."""

    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None and parameter.dim() > 1:
                    parameter.grad -= parameter.grad.mean(dim=1, keepdim=True)
        return super().step(closure)


def train_epoch(model, samples, classes, optimizer, loss_function, batch_size):
    losses = []
    for rows in torch.randperm(len(classes)).split(batch_size):
        optimizer.zero_grad()
        loss = loss_function(model(samples[rows]), classes[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    samples, classes = draw(512, device)
    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2)).to(device)
    optimizer = CentredAdam(model.parameters(), lr=config["learning_rate"])
    loss_function = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, samples, classes, optimizer, loss_function, config["batch_size"])
        record = {"epoch": epoch, "loss": loss}
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
