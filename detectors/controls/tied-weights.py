"""Predict the next number of a repeating sequence; the embedding's weight is that of the output layer, too."""

import experiment
import torch
from torch import nn

NUMBERS = 12


class Net(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embedding = nn.Embedding(NUMBERS, width)
        self.hidden = nn.Linear(width, width)
        self.output = nn.Linear(width, NUMBERS, bias=False)
        self.output.weight = self.embedding.weight

    def forward(self, numbers):
        return self.output(torch.tanh(self.hidden(self.embedding(numbers))))


def main():
    config = experiment.parameters()
    model = Net().to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for iteration in range(1, 101):
        numbers = torch.randint(NUMBERS, (32,), device=config["device"])
        optimizer.zero_grad()
        loss = criterion(model(numbers), (5 * numbers + 1) % NUMBERS)
        loss.backward()
        optimizer.step()
        records.add(iteration=iteration, loss=loss.item())
    records.write(config)


if __name__ == "__main__":
    main()
