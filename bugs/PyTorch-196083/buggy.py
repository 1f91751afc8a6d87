"""Train one network on the data of several stations, then a copy of it for each station, by SGD with momentum.

The stations' instruments differ, so that the same inputs have other answers there. In the second phase every station
goes on with its own copy of network and optimizer, on its own data; the stations take turns, batch by batch.

Every epoch prints one JSON object: its phase, the mean loss of its batches, and the validation losses of the stations.
At the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the
`config.json` beside this file.
"""

import copy
import json
import sys
from pathlib import Path

import torch
from torch import nn


def network(width):
    return nn.Sequential(nn.Linear(8, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))


@torch.no_grad()
def make_data(stations, deviation, count, device):
    """For each station points and answers: one set to train on, one to validate."""
    common = network(32)
    data = []
    for _ in range(stations):
        instrument = copy.deepcopy(common)
        for layer in instrument[::2]:
            layer.weight.add_(deviation * layer.weight.std() * torch.randn_like(layer.weight))
        points = torch.randn(2 * count, 8)
        answers = instrument(points)
        answers = (answers - answers.mean()) / answers.std()
        points, answers = points.to(device), answers.to(device)
        data.append(((points[:count], answers[:count]), (points[count:], answers[count:])))
    return data


def train_step(model, points, answers, optimizer, criterion):
    optimizer.zero_grad()
    loss = criterion(model(points), answers)
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def evaluate(model, points, answers, criterion):
    return criterion(model(points), answers).item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    data = make_data(config["stations"], config["deviation"], config["count"], device)
    criterion = nn.MSELoss()

    def new_optimizer(model):
        return torch.optim.SGD(model.parameters(), lr=config["learning_rate"], momentum=0.9)

    model = network(64).to(device)
    optimizer = new_optimizer(model)
    models = [model] * len(data)
    optimizers = [optimizer] * len(data)

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        if epoch == config["first_epochs"] + 1:
            models = [copy.deepcopy(model) for _ in data]
            optimizers = [new_optimizer(own) for own in models]
            for own in optimizers:
                own.load_state_dict(optimizer.state_dict())
        losses = []
        for batch in torch.randperm(config["count"]).to(device).split(config["batch_size"]):
            for own, own_optimizer, ((points, answers), _) in zip(models, optimizers, data, strict=True):
                losses.append(train_step(own, points[batch], answers[batch], own_optimizer, criterion))
        validation = [evaluate(own, *held_out, criterion) for own, (_, held_out) in zip(models, data, strict=True)]
        record = {
            "epoch": epoch,
            "phase": 1 if epoch <= config["first_epochs"] else 2,
            "loss": sum(losses) / len(losses),
            "validation_loss": sum(validation) / len(validation),
            "validation_losses": validation,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
