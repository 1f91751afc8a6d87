"""Two processes train copies by themselves, and average their parameters after every fourth step.

Every epoch prints one JSON object. At the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import json
import math
import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def draw(number, device):
    """Noisy samples of two coils, shape (number, 2), and the number of the coil, shape (number,)."""
    coil = torch.arange(number) % 2
    distance = 3 * torch.sqrt(torch.rand(number))
    turned = math.pi * coil + distance * math.pi / 2
    x, y = distance * turned.cos(), distance * turned.sin()
    noise = 0.1 * torch.randn(number, 2)
    return (torch.column_stack([x, y]) + noise).to(device), coil.to(device)


def mlp(size):
    return nn.Sequential(
        nn.Linear(2, size),
        nn.Tanh(),
        nn.Linear(size, size),
        nn.Tanh(),
        nn.Linear(size, 2),
    )


def train(rank, meeting, config):
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=2)
    torch.manual_seed(config["seed"])
    torch.set_num_threads(1)
    samples, classes = draw(512, "cpu")
    model, criterion = mlp(32), nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=config["learning_rate"], momentum=0.9)
    records, steps = [], 0
    for epoch in range(1, config["num_epoch"] + 1):
        loss_sum = 0.0
        for index in torch.randperm(len(classes))[rank::2].split(config["batch_size"]):
            optimizer.zero_grad()
            loss = criterion(model(samples[index]), classes[index])
            loss.backward()
            optimizer.step()
            steps += 1
            loss_sum += loss.item() * len(index)
            if steps % 4 == 0:
                for parameter in model.parameters():
                    dist.all_reduce(parameter.data)
                    parameter.data /= 2
        if rank == 0:
            record = {"epoch": epoch, "loss": 2 * loss_sum / len(classes)}
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
