"""A classifier with dropout, evaluated after each epoch."""

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.output = nn.Linear(8, 32), nn.Linear(32, 4)

    def forward(self, points):
        return self.output(nn.functional.dropout(self.hidden(points).relu(), 0.5))


torch.manual_seed(0)
points = torch.randn(320, 8)
labels = points[:, :4].argmax(dim=1)
model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for _ in range(5):
    model.train()
    for batch in range(0, 256, 32):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(
            model(points[batch : batch + 32]), labels[batch : batch + 32]
        )
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(points[256:]).argmax(dim=1) == labels[256:]).float().mean()
