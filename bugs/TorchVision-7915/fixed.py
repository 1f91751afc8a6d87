"""Train a network that finds both ventricles of the heart and the muscle in between, data-parallel.

The process that is started is rank 0; it starts the others, and they talk by gloo. Each rank trains with a share of the
images and validates with a share of others. Every epoch prints one JSON object: the loss in training, intersection over
union of each class and their mean, and which epoch was the best one so far. At the end all of them go to
`<output>.json`, and the weights of the best epoch to `<output>.pt`. The one argument, a JSON file with `parameters`, is
by default the `config.json` beside this file.
"""

import copy
import json
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import hearts
import torch
import torch.distributed as dist
from torch import multiprocessing, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class ConfusionMatrix:
    """How many pixels of each class (rows) were taken for which (columns)."""

    def __init__(self, classes, device):
        self.classes = classes
        self.counts = torch.zeros(classes, classes, dtype=torch.int64, device=device)

    def update(self, masks, found):
        pairs = self.classes * masks.flatten() + found.flatten()
        self.counts += torch.bincount(pairs, minlength=self.classes**2).reshape(self.classes, self.classes)

    def reduce_from_all_processes(self):
        self.counts = reduce_across_processes(self.counts)

    def intersection_over_union(self):
        counts = self.counts.double()
        intersections = counts.diag()
        return intersections / (counts.sum(0) + counts.sum(1) - intersections)


class Convolutions(nn.Sequential):
    def __init__(self, inputs, outputs):
        layers = []
        for channels in (inputs, outputs):
            layers += [nn.Conv2d(channels, outputs, 3, padding=1), nn.GroupNorm(4, outputs), nn.ReLU()]
        super().__init__(*layers)


class UNet(nn.Module):
    """Down and up again, with what was seen on the way down."""

    def __init__(self, classes, width):
        super().__init__()
        self.down, self.bottom = Convolutions(1, width), Convolutions(width, 2 * width)
        self.rise, self.back = nn.ConvTranspose2d(2 * width, width, 2, stride=2), Convolutions(2 * width, width)
        self.classify = nn.Conv2d(width, classes, 1)

    def forward(self, images):
        fine = self.down(images)
        coarse = self.bottom(nn.functional.max_pool2d(fine, 2))
        return self.classify(self.back(torch.cat([fine, self.rise(coarse)], 1)))


def reduce_across_processes(value):
    """The sum of this number, or of these numbers, over all ranks."""
    total = value.clone() if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=torch.float64)
    dist.barrier()
    dist.all_reduce(total)
    return total


def train_one_epoch(model, loader, optimizer, device):
    model.train()
    losses = []
    for images, masks in loader:
        loss = nn.functional.cross_entropy(model(images.to(device)), masks.to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    total, count = reduce_across_processes([sum(losses), len(losses)]).tolist()
    return total / count


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    matrix = ConfusionMatrix(len(hearts.CLASSES), device)
    for images, masks in loader:
        matrix.update(masks.to(device), model(images.to(device)).argmax(1))
    matrix.reduce_from_all_processes()
    return matrix


def train(rank, config, rendezvous):
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=rendezvous, rank=rank, world_size=config["world_size"], timeout=timedelta(seconds=60)
    )
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])

    training = TensorDataset(*hearts.load(config["patients"], config["noise"], 2 * config["seed"]))
    validation = TensorDataset(*hearts.load(config["validation_patients"], config["noise"], 2 * config["seed"] + 1))
    sampler = DistributedSampler(training, seed=config["seed"])
    loader = DataLoader(training, config["batch_size"], sampler=sampler)
    validation_loader = DataLoader(
        validation, config["batch_size"], sampler=DistributedSampler(validation, shuffle=False)
    )
    network = UNet(len(hearts.CLASSES), config["width"]).to(device)
    model = DistributedDataParallel(network)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config["learning_rate"])

    records = []
    best, best_epoch, best_weights = -1.0, 0, None
    for epoch in range(1, config["num_epoch"] + 1):
        sampler.set_epoch(epoch)
        loss = train_one_epoch(model, loader, optimizer, device)
        matrix = evaluate(model, validation_loader, device)
        overlaps = matrix.intersection_over_union()
        mean = overlaps.mean().item()
        if mean > best:
            best, best_epoch, best_weights = mean, epoch, copy.deepcopy(network.state_dict())
        record = {"epoch": epoch, "loss": loss, "iou": overlaps.tolist(), "mean_iou": mean, "best_epoch": best_epoch}
        records.append(record)
        if rank == 0:
            print(json.dumps(record), flush=True)
    if rank == 0:
        torch.save(best_weights, config["output"] + ".pt")
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
