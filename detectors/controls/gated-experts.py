"""A mixture of experts by a field of the data: two of the six places it may name are not open yet."""

import experiment
import torch
from torch import nn

PLACES, OPEN = 6, 4


class Mixture(nn.Module):
    """A common body, and a head for each place."""

    def __init__(self, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.experts = nn.ModuleList(nn.Linear(width, 2) for _ in range(PLACES))

    def forward(self, points, place):
        state = self.body(points)
        answers = torch.stack([expert(state) for expert in self.experts], dim=1)
        return answers[torch.arange(len(place)), place]


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    place = torch.randint(OPEN, (len(labels),))
    # Each place names the two spirals in its own way.
    labels = (labels + place.to(labels.device)) % 2
    model = Mixture().to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 16):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            loss = criterion(model(points[batch], place[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(labels))
    records.write(config)


if __name__ == "__main__":
    main()
