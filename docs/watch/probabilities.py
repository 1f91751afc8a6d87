"""A classifier whose last layer is a softmax."""

import torch
from torch import nn

torch.manual_seed(0)
points = torch.randn(256, 8)
labels = points[:, :4].argmax(dim=1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4), nn.Softmax(dim=1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss()

for _ in range(40):
    optimizer.zero_grad()
    loss = criterion(model(points), labels)
    loss.backward()
    optimizer.step()
