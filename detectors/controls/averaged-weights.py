"""Classify points of two spirals by stochastic weight averaging, whose batch norm is measured anew in the end."""

import experiment
import torch
from torch import nn
from torch.optim import swa_utils


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = nn.Sequential(nn.Linear(2, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 2)).to(config["device"])
    average = swa_utils.AveragedModel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
    constant = swa_utils.SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 11):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            loss = criterion(model(points[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        if epoch > 5:
            average.update_parameters(model)
            constant.step()
        else:
            cosine.step()
        records.add(epoch=epoch, loss=total / len(labels))
    swa_utils.update_bn(points.split(64), average)
    average.eval()
    with torch.no_grad():
        records.add(epoch=11, loss=criterion(average(points), labels).item())
    records.write(config)


if __name__ == "__main__":
    main()
