"""Classify points of two spirals; after every epoch the network is evaluated on points that it has not seen."""

import experiment
import torch
from torch import nn


@torch.no_grad()
def evaluate(model, points, labels, criterion):
    model.eval()
    return criterion(model(points), labels).item()


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    unseen, unseen_labels = experiment.spirals(256, config["device"])
    model = nn.Sequential(*experiment.network(), nn.Dropout(0.1)).to(config["device"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 11):
        model.train()
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            criterion(model(points[batch]), labels[batch]).backward()
            optimizer.step()
        records.add(epoch=epoch, loss=evaluate(model, unseen, unseen_labels, criterion))
    records.write(config)


if __name__ == "__main__":
    main()
