"""Classify points of two spirals in mixed precision; the gradient scaler begins far too high and skips steps."""

import experiment
import torch
from torch import nn


def main():
    config = experiment.parameters()
    device = torch.device(config["device"]).type
    points, labels = experiment.spirals(512, device)
    model = experiment.network().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler(device, init_scale=2.0**127)
    criterion = nn.CrossEntropyLoss(reduction="sum")

    records = experiment.Records()
    for epoch in range(1, 11):
        total = 0.0
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            with torch.autocast(device, dtype=torch.bfloat16):
                loss = criterion(model(points[batch]), labels[batch])
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            total += loss.item()
        records.add(epoch=epoch, loss=total / len(labels), scale=scaler.get_scale())
    records.write(config)


if __name__ == "__main__":
    main()
