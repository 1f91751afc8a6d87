"""Predict the next value of a sine wave with a recurrent network; gradients reach back twenty values."""

import experiment
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.recurrent = nn.GRU(1, width, batch_first=True)
        self.output = nn.Linear(width, 1)

    def forward(self, values, hidden):
        states, hidden = self.recurrent(values, hidden)
        return self.output(states), hidden


def main():
    config = experiment.parameters()
    phase = torch.rand(16, 1, 1, device=config["device"])
    waves = torch.sin(0.2 * torch.arange(401, device=config["device"]).view(1, -1, 1) + 6 * phase)
    model = Net().to(config["device"])
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.005)
    criterion = nn.MSELoss()

    records = experiment.Records()
    for epoch in range(1, 6):
        hidden, total = None, 0.0
        for start in range(0, 400, 20):
            optimizer.zero_grad()
            predicted, hidden = model(waves[:, start : start + 20], hidden)
            loss = criterion(predicted, waves[:, start + 1 : start + 21])
            loss.backward()
            optimizer.step()
            hidden = hidden.detach()
            total += loss.item()
        records.add(epoch=epoch, loss=total / 20)
    records.write(config)


if __name__ == "__main__":
    main()
