"""Distil a trained teacher with dropout into a smaller student; both are compiled.

The teacher is trained first. From then on it is in evaluation mode, the student learns its outputs on unlabelled
inputs. After every epoch the accuracy of both is measured; the measurement leaves a model in the mode that it had.
Every epoch of the student prints one JSON object; at the end all of them go to `<output>.json`. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from pathlib import Path

import torch
from torch import nn


def make_data(config, device):
    """Inputs whose class a random network knows, in three sets."""
    truth = nn.Sequential(nn.Linear(config["features"], 32), nn.Tanh(), nn.Linear(32, config["classes"]))
    sets = {}
    for name, count in (("train", 512), ("unlabelled", 512), ("test", 2048)):
        inputs = torch.randn(count, config["features"])
        with torch.no_grad():
            labels = truth(inputs).argmax(1)
        sets[name] = inputs.to(device), labels.to(device)
    return sets


def network(config, width, dropout):
    return nn.Sequential(
        nn.Linear(config["features"], width),
        nn.BatchNorm1d(width),
        nn.ReLU(),
        nn.Dropout(dropout),
        nn.Linear(width, config["classes"]),
    )


def train_teacher(teacher, data, config):
    optimizer = torch.optim.Adam(teacher.parameters(), lr=config["learning_rate"])
    inputs, labels = data
    teacher.train()
    for _ in range(config["teacher_epochs"]):
        for batch in torch.randperm(len(labels)).to(labels.device).split(config["batch_size"]):
            optimizer.zero_grad()
            nn.functional.cross_entropy(teacher(inputs[batch]), labels[batch]).backward()
            optimizer.step()


def distil(student, teacher, inputs, optimizer, batch_size):
    student.train()
    loss_sum = 0.0
    for batch in torch.randperm(len(inputs)).to(inputs.device).split(batch_size):
        with torch.no_grad():
            target = teacher(inputs[batch])
        loss = nn.functional.mse_loss(student(inputs[batch]), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss_sum += loss.item() * len(batch)
    return loss_sum / len(inputs)


@torch.no_grad()
def accuracy(model, data):
    training = model._orig_mod.training
    model.eval()
    inputs, labels = data
    correct = (model(inputs).argmax(1) == labels).float().mean().item()
    model.train(training)
    return correct


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    data = make_data(config, device)
    teacher = torch.compile(network(config, config["width"], config["dropout"]).to(device), backend="eager")
    student = torch.compile(network(config, config["width"] // 4, 0.0).to(device), backend="eager")
    train_teacher(teacher, data["train"], config)
    teacher.eval()

    optimizer = torch.optim.Adam(student.parameters(), lr=config["learning_rate"])
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        loss = distil(student, teacher, data["unlabelled"][0], optimizer, config["batch_size"])
        record = {
            "epoch": epoch,
            "loss": loss,
            "teacher_accuracy": accuracy(teacher, data["test"]),
            "accuracy": accuracy(student, data["test"]),
        }
        print(json.dumps(record), flush=True)
        records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
