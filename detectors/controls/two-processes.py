"""Classify points of two spirals in two processes; gradients of two micro-batches are averaged once, in the second."""

import contextlib
import tempfile

import experiment
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(rank, meeting, config):
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
    torch.manual_seed(config["seed"])
    points, labels = experiment.spirals(512, "cpu")
    model = DistributedDataParallel(experiment.network())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    criterion = nn.CrossEntropyLoss()
    records = experiment.Records()
    for epoch in range(1, 13):
        order = torch.randperm(len(labels))[rank::2]
        for batch in order.split(64):
            optimizer.zero_grad()
            for index, part in enumerate(batch.split(32)):
                with contextlib.nullcontext() if index else model.no_sync():
                    (criterion(model(points[part]), labels[part]) / 2).backward()
            optimizer.step()
        with torch.no_grad():
            loss = criterion(model.module(points), labels).item()
        if rank == 0:
            records.add(epoch=epoch, loss=loss)
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
