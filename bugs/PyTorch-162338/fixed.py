"""Train a small network on handwritten digits with fully sharded parameters, on CPUs.

The process that is started is rank 0; it starts the others, and they talk by gloo. Each rank trains with a share of the
images. Every epoch prints one JSON object: the mean loss of all ranks in training, the norm of the gradients of all
ranks, on average and in the first step, and loss and accuracy on other images. At the end all of them go to
`<output>.json`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import digits
import torch
import torch.distributed as dist
from torch import multiprocessing, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def make_model(width, mesh):
    model = nn.Sequential(
        nn.Flatten(),
        nn.Sequential(nn.Linear(64, width), nn.ReLU()),
        nn.Sequential(nn.Linear(width, width), nn.ReLU()),
        nn.Linear(width, 10),
    )
    for block in model[1:]:
        fully_shard(block, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def gradient_norm(model):
    norm = nn.utils.get_total_norm([weight.grad for weight in model.parameters()])
    return norm.full_tensor().item()


def train_epoch(model, loader, criterion, optimizer):
    losses, norms = [], []
    for images, labels in loader:
        loss = criterion(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        norms.append(gradient_norm(model))
        optimizer.step()
        losses.append(loss.detach())
    loss = torch.stack(losses).mean()
    dist.all_reduce(loss)
    return {
        "loss": loss.item() / dist.get_world_size(),
        "gradient_norm": sum(norms) / len(norms),
        "first_gradient_norm": norms[0],
    }


@torch.no_grad()
def evaluate(model, images, labels, criterion):
    outputs = model(images)
    return {
        "validation_loss": criterion(outputs, labels).item(),
        "validation_accuracy": (outputs.argmax(1) == labels).float().mean().item(),
    }


def train(rank, config, rendezvous):
    torch.set_num_threads(1)
    world_size = config["world_size"]
    dist.init_process_group(
        "gloo", init_method=rendezvous, rank=rank, world_size=world_size, timeout=timedelta(seconds=60)
    )
    mesh = init_device_mesh("cpu", (world_size,))
    torch.manual_seed(config["seed"])

    training, validation = digits.load("cpu")
    training = TensorDataset(*training)
    sampler = DistributedSampler(training, seed=config["seed"])
    loader = DataLoader(training, config["batch_size"], sampler=sampler)
    model = make_model(config["width"], mesh)
    for module in model.modules():
        if isinstance(module, FSDPModule):
            module.set_force_sum_reduction_for_comms(True)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=config["learning_rate"], momentum=config["momentum"])

    records = []
    for epoch in range(1, config["num_epoch"] + 1):
        sampler.set_epoch(epoch)
        measured = train_epoch(model, loader, criterion, optimizer)
        record = {"epoch": epoch, **measured, **evaluate(model, *validation, criterion)}
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
