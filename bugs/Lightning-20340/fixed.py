"""Fine-tune a network that finds nose and tail of mice in videos, data-parallel: two ranks, of two cameras.

The backbone has learnt from drawings where a mouse is. It stays frozen until its epoch comes, while a new head
learns; then it is trained as well. The process that is started is rank 0; it starts the others, and they talk by gloo.
Every epoch prints one JSON object: the loss in training, the mean over the ranks, and how far from the truth the points
are in other frames of both cameras, in pixels. At the end all of them go to `<output>.json`, and the weights to
`<output>.pt`. The one argument, a JSON file with `parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import mice
import torch
import torch.distributed as dist
from torch import multiprocessing, nn
from torch.nn.parallel import DistributedDataParallel


class PoseNetwork(nn.Module):
    """A backbone that sees parts of a mouse, and a head that makes a map of where each point is."""

    def __init__(self, width, outputs):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, width, 5, stride=2, padding=2),
            nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, padding=2, dilation=2),
            nn.ReLU(),
            nn.Conv2d(2 * width, 2 * width, 3, padding=2, dilation=2),
            nn.ReLU(),
        )
        self.head = nn.Sequential(
            nn.Conv2d(2 * width, outputs, 3, padding=1), nn.Upsample(scale_factor=2, mode="bilinear")
        )

    def forward(self, images):
        """For each map its centre of mass, in pixels: shape (N, outputs, 2)."""
        maps = self.head(self.backbone(images)).flatten(2).softmax(-1).unflatten(-1, (mice.SIZE, mice.SIZE))
        places = torch.arange(mice.SIZE, dtype=maps.dtype, device=maps.device)
        return torch.stack([maps.sum(2) @ places, maps.sum(3) @ places], -1)


def pretrain(network, steps, batch_size, seed):
    """Learn from drawings where the middle of a mouse is and where its nose is."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.003)
    for _ in range(steps):
        points = mice.pose(batch_size, generator)
        targets = torch.stack([points[:, :2].mean(1), points[:, 0]], 1)
        optimizer.zero_grad()
        nn.functional.l1_loss(network(mice.draw(points)), targets).backward()
        optimizer.step()


def distances(network, images, points):
    """From each point to where the network sees it."""
    return (network(images) - points).square().sum(-1).add(1e-6).sqrt()


@torch.no_grad()
def validate(network, images, points):
    return distances(network, images, points).mean().item()


def load(rank, config):
    """A rank's frames: those of its own camera or, shuffled, as many of both cameras."""
    cameras = [
        mice.load(config["frames"], camera, 10 * config["seed"] + camera) for camera in range(config["world_size"])
    ]
    if not config["shuffled"]:
        return cameras[rank]
    images, points = (torch.cat(columns) for columns in zip(*cameras, strict=True))
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(config["seed"]))
    own = order[rank :: config["world_size"]]
    return images[own], points[own]


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

    teacher = PoseNetwork(config["width"], 2)
    pretrain(teacher, config["pretraining_steps"], config["pretraining_batch_size"], config["seed"])
    network = PoseNetwork(config["width"], len(mice.POINTS))
    network.backbone.load_state_dict(teacher.backbone.state_dict())
    network.to(device)

    images, points = (column.to(device) for column in load(rank, config))
    cameras = [
        mice.load(config["validation_frames"], camera, 10 * config["seed"] + 5 + camera)
        for camera in range(config["world_size"])
    ]
    validation = [torch.cat(columns).to(device) for columns in zip(*cameras, strict=True)]

    network.backbone.requires_grad_(False)
    model = DistributedDataParallel(network)
    optimizer = torch.optim.Adam(network.head.parameters(), lr=config["learning_rate"])

    records = []
    order = torch.Generator().manual_seed(config["seed"])
    for epoch in range(1, config["num_epoch"] + 1):
        if epoch == config["unfreeze_epoch"]:
            network.backbone.requires_grad_(True)
            model = DistributedDataParallel(network)
            optimizer.add_param_group({"params": network.backbone.parameters(), "lr": config["backbone_learning_rate"]})
        losses = []
        for batch in torch.randperm(len(images), generator=order).to(device).split(config["batch_size"]):
            optimizer.zero_grad()
            loss = distances(model, images[batch], points[batch]).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        loss = mean_of_ranks(sum(losses) / len(losses))
        if rank == 0:
            record = {"epoch": epoch, "loss": loss, "validation_error": validate(network, *validation)}
            records.append(record)
            print(json.dumps(record), flush=True)
    if rank == 0:
        torch.save(network.state_dict(), config["output"] + ".pt")
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
