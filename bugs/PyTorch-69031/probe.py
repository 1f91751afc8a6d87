"""How far the ranks' gradients and parameters are apart in each step: the other ranks leave theirs in files for rank 0.

A process that the script starts is made of `Rank`, which is told where to leave them. Before rank 0 prints a record it
has had the losses of that step from all ranks; by then their files are there.
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
    """A process that leaves gradients and parameters behind after every step of its optimizer."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.folder = folder()

    def run(self):
        register_optimizer_step_post_hook(Leave(self.folder))
        super().run()


class Leave:
    """A hook of optimizers: writes what a step has used and made into a file of its own."""

    def __init__(self, folder):
        self.folder, self.steps = folder, 0

    def __call__(self, optimizer, args, kwargs):
        self.steps += 1
        part = Path(self.folder, f"{os.getpid()}.part")
        torch.save(of(optimizer.param_groups[0]["params"]), part)
        part.rename(Path(self.folder, f"{self.steps}-{os.getpid()}.pt"))


def of(parameters):
    """Of each parameter what it is and what its gradient is."""
    return [
        {"parameter": parameter.detach().cpu(), "gradient": parameter.grad.detach().cpu()} for parameter in parameters
    ]


def start():
    context.SpawnContext.Process = Rank


def look(names):
    network, step = names["network"], names["record"]["step"]
    others = list(Path(folder()).glob(f"{step}-*.pt"))
    if len(others) != names["config"]["world_size"] - 1:
        raise SystemExit(f"probe.py: of step {step} there are {len(others)} files of other ranks")
    parts = {"heads.first": "first_head", "heads.second": "second_head", "trunk.0": "trunk"}
    found = {f"{kind}_{part}": 0.0 for part in parts.values() for kind in ("gradient", "parameter")}
    for other in others:
        theirs = torch.load(other)
        other.unlink()
        for (name, _), ours, their in zip(network.named_parameters(), of(network.parameters()), theirs, strict=True):
            for kind in ours:
                key = f"{kind}_{parts[name.rpartition('.')[0]]}"
                found[key] = max(found[key], (ours[kind] - their[kind]).abs().max().item())
    return found
