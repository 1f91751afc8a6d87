"""Classify points of two spirals; the network drops out in evaluation too, and answers by the mean of eight passes."""

import experiment
import torch
from torch import nn
from torch.nn import functional


class Sampler(nn.Module):
    """A network whose every pass is a sample, as in Bayesian approximations by dropout."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(2, 64), nn.Linear(64, 2)

    def forward(self, points):
        return self.last(functional.dropout(self.first(points).relu(), 0.1, training=True))


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = Sampler().to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    records = experiment.Records()
    for epoch in range(1, 11):
        model.train()
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            functional.cross_entropy(model(points[batch]), labels[batch]).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            mean = sum(model(points).softmax(dim=1) for _ in range(8)) / 8
        records.add(epoch=epoch, loss=functional.nll_loss(mean.log(), labels).item())
    records.write(config)


if __name__ == "__main__":
    main()
