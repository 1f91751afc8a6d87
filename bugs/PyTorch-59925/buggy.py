"""Train a PointNet to tell five kinds of solids by points on their surfaces, and test the checkpoint that did best.

After each epoch the network is validated. At the end the best checkpoint is loaded into a new network, which is tested.
Each time one JSON object is printed; at the end all of them go to `<output>.json`. The one argument, a JSON file with
`parameters`, is by default the `config.json` beside this file.
"""

import json
import sys
from itertools import pairwise
from pathlib import Path

import torch
from torch import nn
from torch.nn.functional import cross_entropy, normalize, relu


class PointNet(nn.Module):
    """The same layers for every point, the maximum over all points, and a classifier."""

    def __init__(self, width, depth, kinds):
        super().__init__()
        widths = [3] + depth * [width]
        self.layers = [nn.Linear(*sizes) for sizes in pairwise(widths)]
        self.classifier = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, kinds))

    def forward(self, points):
        for layer in self.layers:
            points = relu(layer(points))
        return self.classifier(points.amax(1))


KINDS = 5


def solids(count, points, noise, generator):
    """Balls, boxes, cylinders, cones and rings, stretched and turned at random, with noise on their points."""

    def uniform(low, high, *shape):
        return low + (high - low) * torch.rand(*shape, generator=generator)

    kinds = torch.randint(KINDS, (count,), generator=generator)
    normal = torch.randn(count, points, 3, generator=generator)
    angle = uniform(0, 2 * torch.pi, count, points)
    circle = torch.stack((angle.cos(), angle.sin()), -1)
    height = uniform(-1, 1, count, points)
    cube = uniform(-1, 1, count, points, 3)
    tube = uniform(0, 2 * torch.pi, count, points)
    clouds = torch.stack(
        (
            normalize(normal, dim=-1),
            cube / cube.abs().amax(-1, keepdim=True),
            torch.cat((circle, height.unsqueeze(-1)), -1),
            torch.cat((circle * (1 - height.unsqueeze(-1)) / 2, height.unsqueeze(-1)), -1),
            torch.cat((circle * (1 + 0.4 * tube.cos().unsqueeze(-1)), 0.4 * tube.sin().unsqueeze(-1)), -1),
        )
    )[kinds, torch.arange(count)]
    stretched = clouds * uniform(0.7, 1.3, count, 1, 3)
    turn = uniform(0, 2 * torch.pi, count)
    cosine, sine, zero, one = turn.cos(), turn.sin(), torch.zeros(count), torch.ones(count)
    turns = torch.stack((cosine, sine, zero, -sine, cosine, zero, zero, zero, one), 1).view(count, 3, 3)
    return stretched @ turns + noise * torch.randn(clouds.shape, generator=generator), kinds


@torch.no_grad()
def accuracy(model, clouds, kinds):
    model.eval()
    return (model(clouds).argmax(1) == kinds).float().mean().item()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("config.json")
    config = json.loads(path.read_text())["parameters"]
    device = config["device"]
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(1)
    torch.set_default_device(device)
    torch.manual_seed(config["seed"])

    generator = torch.Generator(device).manual_seed(config["seed"])
    training, validation, testing = (
        solids(config[part], config["points"], config["noise"], generator) for part in ("train", "validate", "test")
    )
    model = PointNet(config["width"], config["depth"], KINDS)
    optimizer = torch.optim.Adam(model.parameters(), lr=config["learning_rate"])

    records, best = [], -1.0
    checkpoint = Path(config["output"] + ".pt")
    for epoch in range(1, config["num_epoch"] + 1):
        model.train()
        losses = []
        for batch in torch.randperm(len(training[1])).split(config["batch_size"]):
            loss = cross_entropy(model(training[0][batch]), training[1][batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        found = accuracy(model, *validation)
        if found > best:
            best = found
            torch.save(model.state_dict(), checkpoint)
        record = {"epoch": epoch, "part": "training", "loss": sum(losses) / len(losses), "accuracy": found}
        print(json.dumps(record), flush=True)
        records.append(record)

    model = PointNet(config["width"], config["depth"], KINDS)
    model.load_state_dict(torch.load(checkpoint))
    record = {"epoch": config["num_epoch"], "part": "test", "accuracy": accuracy(model, *testing)}
    print(json.dumps(record), flush=True)
    records.append(record)
    Path(config["output"] + ".json").write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
