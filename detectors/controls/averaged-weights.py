"""Tell two interleaved arms apart by stochastic weight averaging, whose batch norm is measured anew in the end.

One JSON object is printed for each epoch; all of them go to `<output>.json` in the end. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.optim import swa_utils


def make_data(size, device):
    arm = torch.arange(size).remainder(2)
    radius = torch.rand(size).sqrt() * 3
    phase = radius * math.pi / 2 + arm * math.pi
    curve = torch.stack((radius * torch.cos(phase), radius * torch.sin(phase)), 1)
    return (curve + torch.randn(size, 2) * 0.1).to(device), arm.to(device)


def train_epoch(model, inputs, labels, optimizer, criterion, batch_size):
    loss_sum = 0.0
    for index in torch.randperm(len(labels)).split(batch_size):
        optimizer.zero_grad()
        loss = criterion(model(inputs[index]), labels[index])
        loss.backward()
        optimizer.step()
        loss_sum += loss.item() * len(index)
    return loss_sum / len(labels)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    inputs, labels = make_data(512, device)
    model = nn.Sequential(nn.Linear(2, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 2)).to(device)
    average = swa_utils.AveragedModel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=config["learning_rate"], momentum=0.9)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
    constant = swa_utils.SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
    criterion = nn.CrossEntropyLoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, inputs, labels, optimizer, criterion, config["batch_size"])
        if epoch > 5:
            average.update_parameters(model)
            constant.step()
        else:
            cosine.step()
        record = {
            "epoch": epoch,
            "loss": loss,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    swa_utils.update_bn(inputs.split(config["batch_size"]), average)
    average.eval()
    with torch.no_grad():
        record = {
            "epoch": 11,
            "loss": criterion(average(inputs), labels).item(),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
