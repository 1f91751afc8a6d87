"""Parameters in a list: a ValueError when traincheck-collect tracks the model by its sampler,
for several processes.
"""

import torch

model = torch.nn.Linear(2, 1)
parameters = list(model.parameters())
optimizer = torch.optim.Adam(parameters)
model(torch.ones(1, 2)).sum().backward()
optimizer.step()
print("done")
