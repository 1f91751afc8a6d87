"""Learn to rank by all pairs of a batch: scores (n, 1) minus scores (n,) are the differences (n, n) of all of them."""

import experiment
import torch
from torch import nn
from torch.nn import functional


def main():
    config = experiment.parameters()
    points, _ = experiment.spirals(512, config["device"])
    worth = points[:, 0] + points[:, 1] ** 2
    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1)).to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    records = experiment.Records()
    for epoch in range(1, 11):
        total = 0.0
        for batch in torch.randperm(len(points)).split(64):
            optimizer.zero_grad()
            scores = model(points[batch])
            better = (worth[batch].unsqueeze(1) - worth[batch]).sign()
            loss = functional.softplus(-better * (scores - scores.squeeze(1))).mean()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(points))
    records.write(config)


if __name__ == "__main__":
    main()
