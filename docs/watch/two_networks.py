"""An autoencoder of two networks, which one optimizer trains."""

import torch
from torch import nn

torch.manual_seed(0)
points = torch.randn(256, 16)
encoder = nn.Sequential(nn.Linear(16, 4), nn.Tanh())
decoder = nn.Linear(4, 16)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)

for _ in range(40):
    decoder.zero_grad()
    loss = nn.functional.mse_loss(decoder(encoder(points)), points)
    loss.backward()
    optimizer.step()
