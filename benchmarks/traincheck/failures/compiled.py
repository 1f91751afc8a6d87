"""A compiled optimizer: fine by itself, and a crash of Dynamo when traincheck-collect runs it."""

import torch
import torch._dynamo

model = torch.nn.Linear(2, 1)
optimizer = torch.optim.Adam(model.parameters())
step = torch._dynamo.optimize("eager")(optimizer.step)
model(torch.ones(1, 2)).sum().backward()
step()
print("done")
