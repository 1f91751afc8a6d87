"""Fine-tune a network by low-rank adapters alone, of which one half begins at zero."""

import experiment
import torch
from torch import nn


class Adapted(nn.Module):
    """LoRA (Hu et al. 2021): a frozen layer, and the product of two narrow matrices."""

    def __init__(self, layer, rank=4):
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, layer.in_features) / layer.in_features**0.5)
        self.up = nn.Parameter(torch.zeros(layer.out_features, rank))

    def forward(self, state):
        return self.layer(state) + state @ self.down.T @ self.up.T


def train(model, parameters, points, labels, epochs, records):
    optimizer = torch.optim.AdamW(parameters, lr=0.02)
    criterion = nn.CrossEntropyLoss()
    for _ in range(epochs):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            loss = criterion(model(points[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        records.add(epoch=len(records.all) + 1, loss=total / len(labels))


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model, records = experiment.network().to(config["device"]), experiment.Records()
    train(model, model.parameters(), points, labels, 5, records)
    for index in (0, 2, 4):
        model[index] = Adapted(model[index]).to(config["device"])
    adapters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    train(model, adapters, points.flip(1), labels, 15, records)
    records.write(config)


if __name__ == "__main__":
    main()
