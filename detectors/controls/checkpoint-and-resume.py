"""Classify points of two spirals; half-way all state goes to a file, and new objects go on from there."""

import experiment
import torch
from torch import nn


def build(device):
    model = experiment.network().to(device)
    return model, torch.optim.Adam(model.parameters(), lr=0.01)


def save(path, model, optimizer):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)


def resume(path, device):
    model, optimizer = build(device)
    state = torch.load(path, map_location=device)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return model, optimizer


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model, optimizer = build(config["device"])
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 11):
        if epoch == 6:
            save("checkpoint.pt", model, optimizer)
            model, optimizer = resume("checkpoint.pt", config["device"])
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            loss = criterion(model(points[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(labels))
    records.write(config)


if __name__ == "__main__":
    main()
