"""Train one network for two tasks, data-parallel: each process has a share of the samples.

Both tasks share a trunk, each has a head of its own. A step of the optimizer takes one batch of each task and adds up
their gradients. The process that is started is rank 0; it starts the others, and they talk by gloo. Every step prints
one JSON object: the mean loss of all ranks, and how well rank 0's network does on samples held out. At the end all of
them go to `<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this
file.
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

TASKS = ("first", "second")


class Network(nn.Module):
    def __init__(self, features, width):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(features, width), nn.Tanh())
        self.heads = nn.ModuleDict({task: nn.Linear(width, 1) for task in TASKS})

    def forward(self, inputs, task):
        return self.heads[task](self.trunk(inputs)).squeeze(1)


def training_step(model, optimizer, batches):
    """One step with the sum of the gradients of all tasks."""
    optimizer.zero_grad()
    total = 0.0
    for task in TASKS:
        inputs, targets = batches[task]
        loss = nn.functional.mse_loss(model(inputs, task), targets)
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


def make_samples(config):
    """For each task (training inputs, their targets, validation inputs, their targets), made by a random teacher."""
    generator = torch.Generator().manual_seed(config["seed"])
    hidden = torch.randn(config["features"], 8, generator=generator) / config["features"] ** 0.5
    samples = {}
    for task in TASKS:
        inputs = torch.randn(config["samples"] + config["validation_samples"], config["features"], generator=generator)
        targets = torch.tanh(inputs @ hidden) @ torch.randn(8, generator=generator)
        targets[: config["samples"]] += config["noise"] * torch.randn(config["samples"], generator=generator)
        count = config["samples"]
        samples[task] = (inputs[:count], targets[:count], inputs[count:], targets[count:])
    return samples


@torch.no_grad()
def evaluate(network, samples):
    losses = {}
    for task in TASKS:
        inputs, targets = samples[task][2:]
        losses[f"validation_{task}"] = nn.functional.mse_loss(network(inputs, task), targets).item()
    return losses


def mean_of_ranks(loss):
    loss = torch.tensor(loss)
    dist.all_reduce(loss)
    return loss.item() / dist.get_world_size()


def train(rank, config, rendezvous):
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=rendezvous, rank=rank, world_size=config["world_size"], timeout=timedelta(seconds=60)
    )
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    samples = {task: [tensor.to(device) for tensor in tensors] for task, tensors in make_samples(config).items()}
    network = Network(config["features"], config["width"]).to(device)
    # Neither task uses the head of the other.
    model = DistributedDataParallel(network, find_unused_parameters=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records = []
    torch.manual_seed(config["seed"] + rank)
    own = torch.arange(rank, config["samples"], config["world_size"])
    for step in range(1, config["steps"] + 1):
        batches = {}
        for task in TASKS:
            batch = own[torch.randperm(len(own))[: config["batch_size"]]].to(device)
            batches[task] = (samples[task][0][batch], samples[task][1][batch])
        loss = training_step(model, optimizer, batches)
        record = {"step": step, "loss": mean_of_ranks(loss), **evaluate(network, samples)}
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
            peer.join(60)
        dist.destroy_process_group()
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
