"""Classify points of two spirals by a focal loss, which is a compiled function of the program."""

import experiment
import torch
from torch.nn import functional


@torch.compile(backend="aot_eager")
def focal_loss(logits, labels, gamma=2.0):
    """After Lin et al. 2017: what is known well already counts less."""
    loss = functional.cross_entropy(logits, labels, reduction="none")
    return ((1 - (-loss).exp()) ** gamma * loss).mean()


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    model = experiment.network().to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    records = experiment.Records()
    for epoch in range(1, 11):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            loss = focal_loss(model(points[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        records.add(epoch=epoch, loss=total / len(labels))
    records.write(config)


if __name__ == "__main__":
    main()
