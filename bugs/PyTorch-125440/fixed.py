"""Train a network for one task by averaged SGD; a second head joins later and learns another task from its features.

Every epoch prints one JSON object: the mean loss of its batches, and the loss of both tasks on the validation set, once
with the network's weights and once with the averages of them that the optimizer keeps. At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import copy
import json
import sys
from pathlib import Path

import torch
from torch import nn


class Network(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.first = nn.Linear(width, 1)
        self.second = nn.Linear(width, 1)


def make_data(count, device):
    """Points and, for each task, the answers of a network that is to be imitated: to train on, and to validate."""
    teacher = Network(32)
    points = torch.randn(2 * count, 16)
    with torch.no_grad():
        features = teacher.body(points)
        answers = torch.cat([teacher.first(features), teacher.second(features)], dim=1)
    answers = (answers - answers.mean(0)) / answers.std(0)
    points, answers = points.to(device), answers.to(device)
    return (points[:count], answers[:count]), (points[count:], answers[count:])


def train_epoch(model, data, optimizer, criterion, batch_size, heads):
    points, answers = data
    loss_sum = 0.0
    for batch in torch.randperm(len(points)).to(points.device).split(batch_size):
        optimizer.zero_grad()
        features = model.body(points[batch])
        loss = criterion(model.first(features), answers[batch, :1])
        if heads == 2:
            loss = loss + criterion(model.second(features.detach()), answers[batch, 1:])
        loss.backward()
        optimizer.step()
        loss_sum += loss.item() * len(batch)
    return loss_sum / len(points)


@torch.no_grad()
def averaged(model, optimizer):
    """A copy of the network, its weights being the averages that the optimizer has made so far."""
    average = copy.deepcopy(model)
    for weights, current in zip(average.parameters(), model.parameters(), strict=True):
        if current in optimizer.state:
            weights.copy_(optimizer.state[current]["ax"])
    return average


@torch.no_grad()
def evaluate(model, data, criterion):
    points, answers = data
    features = model.body(points)
    first, second = model.first(features), model.second(features)
    return criterion(first, answers[:, :1]).item(), criterion(second, answers[:, 1:]).item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    train, validation = make_data(1024, device)
    model = Network(64).to(device)
    parameters = [{"params": part.parameters()} for part in model.children()]
    optimizer = torch.optim.ASGD(parameters, lr=config["learning_rate"], lambd=0.0, t0=config["t0"], foreach=True)
    criterion = nn.MSELoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        heads = 1 if epoch <= config["first_epochs"] else 2
        loss = train_epoch(model, train, optimizer, criterion, config["batch_size"], heads)
        first, second = evaluate(model, validation, criterion)
        averaged_first, averaged_second = evaluate(averaged(model, optimizer), validation, criterion)
        record = {
            "epoch": epoch,
            "loss": loss,
            "first": first,
            "second": second,
            "averaged_first": averaged_first,
            "averaged_second": averaged_second,
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
