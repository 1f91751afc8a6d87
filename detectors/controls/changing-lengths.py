"""A compiled network whose last batch is shorter than the others, and whose learning rate falls."""

import experiment
import torch
from torch import nn


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(500, config["device"])
    model = experiment.network().to(config["device"])
    compiled = torch.compile(model, backend="aot_eager")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 9):
        compiled.train()
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            criterion(compiled(points[batch]), labels[batch]).backward()
            optimizer.step()
        scheduler.step()
        compiled.eval()
        with torch.no_grad():
            records.add(epoch=epoch, loss=criterion(compiled(points), labels).item())
    records.write(config)


if __name__ == "__main__":
    main()
