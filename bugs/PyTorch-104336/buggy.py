"""Learn how pendulums move from noisy measurements, data-parallel: each process has a share of them.

The network learns how fast angle and speed change. After every epoch it is validated: trajectories of the pendulum are
computed with it, step by step, and compared with the true ones. The process that is started is rank 0; it starts the
others, and they talk by gloo. Every epoch prints one JSON object: the mean loss of all ranks, and rank 0's error in the
validation. At the end all of them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default
the `config.json` beside this file.
"""

import json
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch import multiprocessing, nn
from torch.nn.parallel import DistributedDataParallel


class Dynamics(nn.Module):
    """The rates at which the angle and the speed of a pendulum change."""

    def __init__(self, width):
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2)
        )

    def forward(self, states):
        return self.network(states)


def pendulum(states):
    angle, speed = states.unbind(-1)
    return torch.stack([speed, -torch.sin(angle)], dim=-1)


def trajectories(rates, states, steps, interval):
    """All states on the way, by the method of Runge and Kutta."""
    way = []
    for _ in range(steps):
        first = rates(states)
        second = rates(states + interval / 2 * first)
        third = rates(states + interval / 2 * second)
        fourth = rates(states + interval * third)
        states = states + interval / 6 * (first + 2 * second + 2 * third + fourth)
        way.append(states)
    return torch.stack(way)


@torch.no_grad()
def validate(model, states, steps, interval):
    """The mean distance of computed states from the true ones, in double precision, since rounding errors add up."""
    model.double()
    ours = trajectories(model, states, steps, interval)
    model.float()
    return (ours - trajectories(pendulum, states, steps, interval)).norm(dim=-1).mean().item()


def train_epoch(model, states, measured, optimizer, batch_size):
    total = 0.0
    for batch in torch.randperm(len(states)).to(states.device).split(batch_size):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(states[batch]), measured[batch])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    return total / len(states)


def swing(amplitudes, generator):
    """One state for each amplitude, at a random phase of the swing."""
    phases = 2 * torch.pi * torch.rand(len(amplitudes), generator=generator)
    return torch.stack([amplitudes * torch.cos(phases), amplitudes * torch.sin(phases)], dim=-1)


def share(tensor, rank, config):
    """The rows of one rank: a piece of them all, or every `world_size`-th row."""
    if config["by_turns"]:
        return tensor[rank :: config["world_size"]]
    return tensor.chunk(config["world_size"])[rank]


def mean_of_ranks(loss):
    loss = torch.tensor(loss)
    dist.all_reduce(loss)
    return loss.item() / dist.get_world_size()


def train(rank, config, rendezvous):
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=rendezvous, rank=rank, world_size=config["world_size"], timeout=timedelta(minutes=5)
    )
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    generator = torch.Generator().manual_seed(config["seed"])
    # They were measured in this order: the pendulum was pulled a little further each time.
    states = swing(torch.linspace(0, config["amplitude"], config["samples"]), generator)
    measured = pendulum(states) + config["noise"] * torch.randn(states.shape, generator=generator)
    states, measured = (share(tensor, rank, config).to(device) for tensor in (states, measured))
    validation = swing(torch.linspace(0, config["amplitude"], config["trajectories"]), generator).double().to(device)
    model = DistributedDataParallel(Dynamics(config["width"]).to(device))
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    torch.manual_seed(config["seed"] + rank)
    for epoch in range(1, config["num_epoch"] + 1):
        loss = train_epoch(model, states, measured, optimizer, config["batch_size"])
        error = validate(model, validation, config["steps"], config["interval"])
        record = {"epoch": epoch, "loss": mean_of_ranks(loss), "trajectory_error": error}
        records.append(record)
        if rank == 0:
            print(json.dumps(record), flush=True)
    dist.barrier()
    return records


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as directory:
        rendezvous = Path(directory, "rendezvous").as_uri()
        peers = [
            context.Process(target=train, args=(rank, config, rendezvous), daemon=True)
            for rank in range(1, config["world_size"])
        ]
        for peer in peers:
            peer.start()
        records = train(0, config, rendezvous)
        for peer in peers:
            peer.join(300)
        dist.destroy_process_group()
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
