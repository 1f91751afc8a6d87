"""Classify points of two spirals with an Adam that centres the gradients of matrices before its step."""

import experiment
import torch
from torch import nn


class CentredAdam(torch.optim.Adam):
    """Gradient centralisation (Yong et al. 2020)."""

    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None and parameter.dim() > 1:
                    parameter.grad -= parameter.grad.mean(dim=1, keepdim=True)
        return super().step(closure)


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = experiment.network().to(config["device"])
    optimizer = CentredAdam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()

    records = experiment.Records()
    for epoch in range(1, 11):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            loss = criterion(model(points[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(labels))
    records.write(config)


if __name__ == "__main__":
    main()
