"""Blocks with dropout are computed again in the backward pass, instead of being kept."""

import experiment
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Deep(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.first, self.last = nn.Linear(2, width), nn.Linear(width, 2)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Dropout(0.05)) for _ in range(4)
        )

    def forward(self, points):
        state = self.first(points)
        for block in self.blocks:
            state = state + checkpoint(block, state, use_reentrant=False)
        return self.last(state)


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = Deep().to(config["device"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 9):
        model.train()
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            criterion(model(points[batch]), labels[batch]).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            records.add(epoch=epoch, loss=criterion(model(points), labels).item())
    records.write(config)


if __name__ == "__main__":
    main()
