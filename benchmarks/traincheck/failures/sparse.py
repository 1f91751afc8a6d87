"""Sparse gradients: done by itself, and a TypeError when traincheck-collect tracks the model."""

import torch

model = torch.nn.Embedding(4, 2, sparse=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.tensor([1])).sum().backward()
optimizer.step()
print("done")
