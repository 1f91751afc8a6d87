"""A rare class is shown ten times as often, so that workers load the same samples again and again."""

import experiment
import torch
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, Subset, TensorDataset


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, "cpu")
    data = TensorDataset(points, labels)
    rare = torch.nonzero(labels == 1).flatten()[:16].tolist()
    often = torch.nonzero(labels == 0).flatten().tolist()
    loader = DataLoader(
        ConcatDataset([Subset(data, often), *(Subset(data, rare) for _ in range(16))]),
        batch_size=16, shuffle=False, num_workers=2,
    )  # fmt: skip
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
            total += loss.item()
        records.add(epoch=epoch, loss=total / len(loader))
    records.write(config)


if __name__ == "__main__":
    main()
