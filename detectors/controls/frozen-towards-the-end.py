"""Classify points of two spirals; batch norm and dropout are switched off for the last four epochs."""

import experiment
import torch
from torch import nn


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = nn.Sequential(nn.Linear(2, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 2))
    model = model.to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 13):
        model.train()
        if epoch > 8:
            for layer in (model[1], model[3]):
                layer.eval()
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            criterion(model(points[batch]), labels[batch]).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            records.add(epoch=epoch, loss=criterion(model(points), labels).item())
    records.write(config)


if __name__ == "__main__":
    main()
