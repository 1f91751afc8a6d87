"""Two processes train copies by themselves, and average their parameters after every fourth step."""

import tempfile

import experiment
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def train(rank, meeting, config):
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
    torch.manual_seed(config["seed"])
    points, labels = experiment.spirals(512, "cpu")
    model, criterion = experiment.network(), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    records, steps = experiment.Records(), 0
    for epoch in range(1, 9):
        total = 0.0
        for batch in torch.randperm(len(labels))[rank::2].split(64):
            optimizer.zero_grad()
            loss = criterion(model(points[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            steps += 1
            total += loss.item() * len(batch)
            if steps % 4 == 0:
                for parameter in model.parameters():
                    dist.all_reduce(parameter.data)
                    parameter.data /= 2
        if rank == 0:
            records.add(epoch=epoch, loss=2 * total / len(labels))
    if rank == 0:
        records.write(config)
    # A process that ends while the other one still sends to it may leave that one waiting for ever.
    dist.barrier()


def main():
    config = experiment.parameters()
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, (f"{folder}/meeting", config), nprocs=2)


if __name__ == "__main__":
    main()
