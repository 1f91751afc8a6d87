"""Tell samples of two coils apart in two processes; gradients of two micro-batches are averaged once, in the second.

Every epoch prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import contextlib
import json
import math
import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def draw(number, device):
    """Noisy samples of two coils, shape (number, 2), and the number of the coil, shape (number,)."""
    coil = torch.arange(number) % 2
    distance = 3 * torch.sqrt(torch.rand(number))
    turned = math.pi * coil + distance * math.pi / 2
    x, y = distance * turned.cos(), distance * turned.sin()
    noise = 0.1 * torch.randn(number, 2)
    return (torch.column_stack([x, y]) + noise).to(device), coil.to(device)


def build_model(hidden):
    layers = [nn.Linear(2, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 2)]
    return nn.Sequential(*layers)


def train(rank, meeting, config):
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
    torch.manual_seed(config["seed"])
    samples, classes = draw(512, "cpu")
    model = DistributedDataParallel(build_model(32))
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])
    criterion = nn.CrossEntropyLoss()
    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        order = torch.randperm(len(classes))[rank::2]
        for batch in order.split(config["batch_size"]):
            optimizer.zero_grad()
            for index, part in enumerate(batch.split(32)):
                with contextlib.nullcontext() if index else model.no_sync():
                    (criterion(model(samples[part]), classes[part]) / 2).backward()
            optimizer.step()
        with torch.no_grad():
            loss = criterion(model.module(samples), classes).item()
        if rank == 0:
            record = {"epoch": epoch, "loss": loss}
            print(json.dumps(record), flush=True)
            records.append(record)
    if rank == 0:
        Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))
    # A process that ends while the other one still sends to it may leave that one waiting for ever.
    dist.barrier()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    torch.manual_seed(config["seed"])
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(train, (f"{folder}/meeting", config), nprocs=2)


if __name__ == "__main__":
    main()
