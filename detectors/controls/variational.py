"""A variational autoencoder, which draws its code at random in evaluation, too."""

import experiment
import torch
from torch import nn
from torch.nn import functional


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 4))
        self.decoder = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, points):
        mean, log_variance = self.encoder(points).chunk(2, dim=1)
        code = mean + torch.randn_like(mean) * (log_variance / 2).exp()
        divergence = (mean.square() + log_variance.exp() - log_variance - 1).sum(dim=1).mean() / 2
        return self.decoder(code), divergence


def main():
    config = experiment.parameters()
    points, _ = experiment.spirals(512, config["device"])
    model = Autoencoder().to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)

    records = experiment.Records()
    for epoch in range(1, 16):
        model.train()
        for batch in torch.randperm(len(points)).split(64):
            optimizer.zero_grad()
            copy, divergence = model(points[batch])
            (functional.mse_loss(copy, points[batch]) + 0.001 * divergence).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            copy, divergence = model(points)
            records.add(epoch=epoch, loss=functional.mse_loss(copy, points).item(), divergence=divergence.item())
    records.write(config)


if __name__ == "__main__":
    main()
