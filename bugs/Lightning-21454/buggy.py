"""Teach a network to find one digit among all digits, data-parallel with Lightning Fabric.

The process that is started is rank 0; it starts the others, and they talk by gloo. A sampler gives each epoch all
images of the digit, and as many others. Every epoch prints one JSON object: the mean loss of all ranks in training, how
many different images were trained on so far, the loss on other images, which share of the digit's images is found among
these, and which share of the found ones is right. At the end all of them go to `<output>.json`. The one argument, a
JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import digits
import torch
import torch.distributed as dist
from lightning.fabric import Fabric
from torch import multiprocessing, nn
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.utils.data import DataLoader, Sampler, TensorDataset


class BalancedSampler(Sampler):
    """All positive samples and as many negative ones, which are drawn anew for each epoch, the same on all ranks."""

    def __init__(self, positive, seed):
        self.positive, self.negative = positive.nonzero().flatten(), (~positive).nonzero().flatten()
        self.seed = seed
        self.set_epoch(0)

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return 2 * len(self.positive)

    def __iter__(self):
        generator = torch.Generator().manual_seed(1000 * self.seed + self.epoch)
        drawn = torch.randperm(len(self.negative), generator=generator)[: len(self.positive)]
        samples = torch.cat([self.positive, self.negative[drawn]])
        return iter(samples[torch.randperm(len(samples), generator=generator)].tolist())


def network(width):
    return nn.Sequential(nn.Flatten(), nn.Linear(64, width), nn.ReLU(), nn.Linear(width, 1), nn.Flatten(0))


@torch.no_grad()
def evaluate(model, images, positive):
    outputs = model(images)
    found = outputs > 0
    right = (found & positive).sum().item()
    return {
        "validation_loss": binary_cross_entropy_with_logits(outputs, positive.float()).item(),
        "recall": right / positive.sum().item(),
        "precision": right / max(found.sum().item(), 1),
    }


def train(rank, config, rendezvous):
    torch.set_num_threads(1)
    os.environ["LOCAL_RANK"] = str(rank)
    dist.init_process_group("gloo", init_method=rendezvous, rank=rank, world_size=config["world_size"])
    fabric = Fabric(accelerator="cpu", strategy="ddp", devices=config["world_size"])
    fabric.launch()
    torch.manual_seed(config["seed"])

    (images, labels), (validation_images, validation_labels) = digits.load("cpu")
    positive = labels == config["digit"]
    dataset = TensorDataset(images, positive.float(), torch.arange(len(images)))
    sampler = BalancedSampler(positive, config["seed"])
    loader = fabric.setup_dataloaders(DataLoader(dataset, config["batch_size"], sampler=sampler))
    model = network(config["width"])
    model, optimizer = fabric.setup(model, torch.optim.Adam(model.parameters(), lr=config["learning_rate"]))

    records = []
    seen = torch.zeros(len(images))
    for epoch in range(1, config["num_epoch"] + 1):
        losses = []
        for batch, targets, numbers in loader:
            loss = binary_cross_entropy_with_logits(model(batch), targets)
            optimizer.zero_grad()
            fabric.backward(loss)
            optimizer.step()
            losses.append(loss.detach())
            seen[numbers] = 1
        record = {
            "epoch": epoch,
            "loss": fabric.all_reduce(torch.stack(losses).mean()).item(),
            "images_seen": int(fabric.all_gather(seen).amax(0).sum()),
            **evaluate(model, validation_images, validation_labels == config["digit"]),
        }
        records.append(record)
        if rank == 0:
            print(json.dumps(record), flush=True)
    fabric.barrier()
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
