"""Train a small network by SGD in two sessions; all state goes through a checkpoint on disk in between.

The learning rate rises for some epochs of warm-up, then falls along a cosine. Every epoch prints one JSON object: its
session, its learning rate, the mean loss of its batches, and the loss on the validation set after it. At the end all of
them go to `<output>.json`, the checkpoint is in `<output>.pt`. The one argument, a JSON file with `parameters`, is by
default the `config.json` beside this file.
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


def prepare(config, device, checkpoint=None):
    """Model, optimizer and scheduler: new ones, or in the state that the checkpoint holds."""
    model = network(64).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=config["learning_rate"], momentum=0.9)
    if checkpoint:
        model.load_state_dict(checkpoint["model"])
    warmup = LinearLR(optimizer, start_factor=0.1, total_iters=config["warmup_epochs"])
    cosine = CosineAnnealingLR(optimizer, T_max=config["num_epoch"] - config["warmup_epochs"])
    scheduler = SequentialLR(optimizer, [warmup, cosine], milestones=[config["warmup_epochs"]])
    if checkpoint:
        optimizer.load_state_dict(checkpoint["optimizer"])
        scheduler.load_state_dict(checkpoint["scheduler"])
    return model, optimizer, scheduler


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
    criterion = nn.MSELoss()
    saved = Path(config["output"] + ".pt")
    records = []

    def session(number, epochs, checkpoint=None):
        model, optimizer, scheduler = prepare(config, device, checkpoint)
        for epoch in epochs:
            learning_rate = scheduler.get_last_lr()[0]
            loss = train_epoch(model, train, optimizer, criterion, config["batch_size"])
            scheduler.step()
            record = {
                "epoch": epoch,
                "session": number,
                "learning_rate": learning_rate,
                "loss": loss,
                "validation_loss": evaluate(model, validation, criterion),
            }
            print(json.dumps(record), flush=True)
            records.append(record)
        return {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}

    torch.save(session(1, range(1, config["first_epochs"] + 1)), saved)
    session(2, range(config["first_epochs"] + 1, config["num_epoch"] + 1), torch.load(saved, map_location=device))
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
