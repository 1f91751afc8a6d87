"""A sensor breaks down now and then for two batches: gradients beyond all measure are thrown away before the step."""

import experiment
import torch
from torch import nn

LIMIT = 50.0


def main():
    config = experiment.parameters()
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 2)).to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=200)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for iteration in range(1, 201):
        points, labels = experiment.spirals(128, config["device"])
        if iteration % 40 in (8, 9):
            points = 1e4 * points
        optimizer.zero_grad()
        loss = criterion(model(points), labels)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if norm > LIMIT:
            optimizer.zero_grad()
        optimizer.step()
        scheduler.step()
        records.add(iteration=iteration, loss=loss.item(), norm=norm.item())
    records.write(config)


if __name__ == "__main__":
    main()
