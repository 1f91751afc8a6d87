"""Classify points of two spirals with LBFGS, which asks for loss and gradients as often as it likes."""

import experiment
import torch
from torch import nn


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = experiment.network().to(config["device"])
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5, line_search_fn="strong_wolfe")
    criterion = nn.CrossEntropyLoss()

    def closure():
        optimizer.zero_grad()
        loss = criterion(model(points), labels)
        loss.backward()
        return loss

    records = experiment.Records()
    for iteration in range(1, 21):
        records.add(iteration=iteration, loss=optimizer.step(closure).item())
    records.write(config)


if __name__ == "__main__":
    main()
