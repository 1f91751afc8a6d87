"""Train a small network by SGD; the learning rate is annealed along a cosine, after as many epochs of warm-up as asked.

Every epoch prints one JSON object: the learning rate of its optimizer steps, the mean loss of its batches, and the loss
on the validation set after it. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR


def network(width):
    return nn.Sequential(nn.Linear(16, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))


def make_data(count, device):
    """Points and the answers of a network that is to be imitated: one set to train on, one to validate."""
    teacher = network(32)
    points = torch.randn(2 * count, 16)
    with torch.no_grad():
        answers = teacher(points)
    answers = (answers - answers.mean()) / answers.std()
    points, answers = points.to(device), answers.to(device)
    return (points[:count], answers[:count]), (points[count:], answers[count:])


def make_scheduler(optimizer, num_epoch, warmup_epochs):
    cosine = CosineAnnealingLR(optimizer, T_max=num_epoch - warmup_epochs)
    if warmup_epochs == 0:
        return cosine
    warmup = LinearLR(optimizer, start_factor=0.01, total_iters=warmup_epochs)
    return SequentialLR(optimizer, [warmup, cosine], milestones=[warmup_epochs])


def train_epoch(model, data, optimizer, criterion, batch_size):
    points, answers = data
    loss_sum = 0.0
    for batch in torch.randperm(len(points)).to(points.device).split(batch_size):
        optimizer.zero_grad()
        loss = criterion(model(points[batch]), answers[batch])
        loss.backward()
        optimizer.step()
        loss_sum += loss.item() * len(batch)
    return loss_sum / len(points)


@torch.no_grad()
def evaluate(model, data, criterion):
    points, answers = data
    return criterion(model(points), answers).item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    train, validation = make_data(1024, device)
    model = network(64).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=config["learning_rate"], momentum=0.9)
    scheduler = make_scheduler(optimizer, config["num_epoch"], config["warmup_epochs"])
    criterion = nn.MSELoss()

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        rate = optimizer.param_groups[0]["lr"]
        loss = train_epoch(model, train, optimizer, criterion, config["batch_size"])
        scheduler.step()
        record = {
            "epoch": epoch,
            "learning_rate": rate,
            "loss": loss,
            "validation_loss": evaluate(model, validation, criterion),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
