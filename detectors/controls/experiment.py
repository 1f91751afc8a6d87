"""Parameters, data and records of a small experiment: which side of a spiral does a point of the plane lie on?"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import nn


def parameters():
    """What the file that the first argument names says; `device` becomes one that is there."""
    config = json.loads(Path(sys.argv[1]).read_text())["parameters"]
    if config["device"] == "auto":
        config["device"] = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(config["seed"])
    return config


def spirals(count, device):
    """Points of two spirals, shape (count, 2), and which one each belongs to, shape (count,)."""
    label = torch.arange(count) % 2
    turn = 3 * torch.rand(count).sqrt()
    angle = turn * math.pi / 2 + math.pi * label
    points = torch.stack([turn * angle.cos(), turn * angle.sin()], dim=1) + 0.1 * torch.randn(count, 2)
    return points.to(device), label.to(device)


def network(width=32):
    return nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2))


class Records:
    """Prints a record as it comes, and writes all of them in the end."""

    def __init__(self):
        self.all = []

    def add(self, **record):
        self.all.append(record)
        print(json.dumps(record), flush=True)

    def write(self, config):
        Path(config["output"] + ".json").write_text(json.dumps(self.all, indent=1))
