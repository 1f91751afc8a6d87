"""A compiled network is judged now and then, in evaluation mode, and put back into the mode in which it was before."""

import experiment
import torch
from torch import nn
from torch.nn import functional


@torch.no_grad()
def judge(model, points, labels):
    was_training = model.training
    model.eval()
    loss = functional.cross_entropy(model(points), labels).item()
    model.train(was_training)
    return loss


def main():
    config = experiment.parameters()
    points, labels = experiment.spirals(512, config["device"])
    held_out, truth = experiment.spirals(256, config["device"])
    model = nn.Sequential(nn.Linear(2, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 2))
    model = torch.compile(model.to(config["device"]), backend="aot_eager")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

    records, steps = experiment.Records(), 0
    model.train()
    for _ in range(10):
        for batch in torch.randperm(len(labels)).split(64):
            optimizer.zero_grad()
            functional.cross_entropy(model(points[batch]), labels[batch]).backward()
            optimizer.step()
            steps += 1
            if steps % 5 == 0:
                records.add(step=steps, loss=judge(model, held_out, truth))
    records.write(config)


if __name__ == "__main__":
    main()
