"""How far the ranks' parameters are apart after each epoch: the other ranks leave theirs in files, rank 0 reads them.

A process that the script starts is made of `Rank`, which is told where to leave them. Before rank 0 prints a record it
has had the losses of that epoch from all ranks; by then their files are there.
"""

import functools
import os
import tempfile
from multiprocessing import context
from pathlib import Path

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook


@functools.cache
def folder():
    return tempfile.mkdtemp()


class Rank(context.SpawnProcess):
    """A process that leaves its parameters behind after every step of its optimizer."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.folder = folder()

    def run(self):
        register_optimizer_step_post_hook(Leave(self.folder))
        super().run()


class Leave:
    """A hook of optimizers: writes each step's parameters into a file of its own."""

    def __init__(self, folder):
        self.folder, self.steps = folder, 0

    def __call__(self, optimizer, args, kwargs):
        self.steps += 1
        part = Path(self.folder, f"{os.getpid()}.part")
        torch.save(flat(optimizer.param_groups[0]["params"]), part)
        part.rename(Path(self.folder, f"{self.steps}-{os.getpid()}.pt"))


def flat(parameters):
    return torch.cat([parameter.detach().cpu().flatten() for parameter in parameters])


def start():
    context.SpawnContext.Process = Rank


def look(names):
    own, config = flat(names["model"].parameters()), names["config"]
    step = names["record"]["epoch"] * -(-len(names["states"]) // config["batch_size"])
    others = list(Path(folder()).glob(f"{step}-*.pt"))
    if len(others) != config["world_size"] - 1:
        raise SystemExit(f"probe.py: of step {step} there are {len(others)} files of other ranks")
    difference = max((torch.load(other) - own).abs().max().item() for other in others)
    for left in Path(folder()).glob("*.pt"):
        if int(left.name.partition("-")[0]) <= step:
            left.unlink()
    return {"difference": difference}
