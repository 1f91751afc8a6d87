"""Classify points of two spirals; the uncertainty is the spread of ten passes with dropout, in evaluation mode."""

import experiment
import torch
from torch import nn


@torch.no_grad()
def passes(model, points):
    """Ten classifications of the same points, with the dropout layers alone in training mode."""
    model.eval()
    for layer in model.modules():
        if isinstance(layer, nn.Dropout):
            layer.train()
    return torch.stack([model(points).softmax(dim=1) for _ in range(10)])


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 2)).to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 11):
        model.train()
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            criterion(model(points[batch]), labels[batch]).backward()
            optimizer.step()
        found = passes(model, points)
        loss = nn.functional.nll_loss(found.mean(dim=0).log(), labels)
        records.add(epoch=epoch, loss=loss.item(), spread=found.std(dim=0).mean().item())
    records.write(config)


if __name__ == "__main__":
    main()
