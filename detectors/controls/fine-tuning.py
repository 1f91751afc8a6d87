"""Go on with the optimizer of an earlier training, momenta included, but with a new and lower schedule."""

import experiment
import torch
from torch import nn

criterion = nn.CrossEntropyLoss()


def train(model, optimizer, scheduler, points, labels, records):
    for _ in range(8):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            loss = criterion(model(points[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        scheduler.step()
        records.add(epoch=len(records.all) + 1, loss=total / len(labels), lr=scheduler.get_last_lr()[0])


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    records, model = experiment.Records(), experiment.network().to(config["device"])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    train(model, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 4), points, labels, records)

    tuned = experiment.network().to(config["device"])
    tuned.load_state_dict(model.state_dict())
    second = torch.optim.Adam(tuned.parameters(), lr=0.004)
    second.load_state_dict(optimizer.state_dict())
    for group in second.param_groups:
        group["lr"] = 0.004
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(second, T_max=8)
    train(tuned, second, scheduler, points + 0.1, labels, records)
    records.write(config)


if __name__ == "__main__":
    main()
