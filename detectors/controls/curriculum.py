"""Classify points of two spirals in a fixed order from easy to hard, of which every epoch takes a larger part."""

import experiment
import torch
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset


class EasyFirst(Sampler):
    def __init__(self, order):
        self.order, self.share = order, 0.3

    def __iter__(self):
        return iter(self.order[: len(self)])

    def __len__(self):
        return int(self.share * len(self.order))


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    sampler = EasyFirst(points.norm(dim=1).argsort().tolist())
    loader = DataLoader(TensorDataset(points.cpu(), labels.cpu()), batch_size=64, sampler=sampler, num_workers=2)
    model = experiment.network().to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 11):
        sampler.share = min(1.0, 0.1 + epoch / 5)
        total = 0.0
        for batch, truth in loader:
            batch, truth = batch.to(config["device"]), truth.to(config["device"])
            optimizer.zero_grad()
            loss = criterion(model(batch), truth)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(sampler))
    records.write(config)


if __name__ == "__main__":
    main()
