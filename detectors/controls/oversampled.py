"""One of ten points is of the second spiral; a sampler draws both as often, so that workers load rare points again."""

import experiment
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(1024, "cpu")
    kept = (labels == 0) | (torch.rand(len(labels)) < 0.1)
    points, labels = points[kept], labels[kept]
    weights = 1 / labels.bincount()[labels]
    sampler = WeightedRandomSampler(weights, num_samples=len(labels))
    loader = DataLoader(TensorDataset(points, labels), batch_size=32, sampler=sampler, num_workers=2)
    model = experiment.network().to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 11):
        total = 0.0
        for batch, truth in loader:
            optimizer.zero_grad()
            loss = criterion(model(batch.to(config["device"])), truth.to(config["device"]))
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(sampler))
    records.write(config)


if __name__ == "__main__":
    main()
