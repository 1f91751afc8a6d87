"""A clean run that violates what TrainCheck infers from it alone: infer from its trace,
and check the same trace.
"""

import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
with torch.no_grad():
    model(torch.ones(1, 2))
