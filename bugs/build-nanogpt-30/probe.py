"""How far the ranks' weights are apart, and the loss of rank 0's weights for each of the collections.

A process that the script starts is made of `Rank`: it leaves its weights in a file after every step of its optimizer,
and rank 0 reads those of its own last step.
"""

import functools
import tempfile
from multiprocessing import context
from pathlib import Path

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook


@functools.cache
def folder():
    return tempfile.mkdtemp()


class Rank(context.SpawnProcess):
    """A process that leaves its weights behind after every step of its optimizer."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.folder = folder()

    def run(self):
        register_optimizer_step_post_hook(Leave(self.folder))
        super().run()


class Leave:
    """A hook of optimizers: writes the weights of each step into a file of their own."""

    def __init__(self, folder):
        self.folder, self.steps = folder, 0

    def __call__(self, optimizer, args, kwargs):
        self.steps += 1
        part = Path(self.folder, "part")
        torch.save(flat(optimizer.param_groups[0]["params"]), part)
        part.rename(Path(self.folder, f"{self.steps}.pt"))


def flat(parameters):
    return torch.cat([parameter.detach().cpu().flatten() for parameter in parameters])


def start():
    context.SpawnContext.Process = Rank


def look(names):
    network, step = names["network"], names["step"]
    difference = (torch.load(Path(folder(), f"{step}.pt")) - flat(network.parameters())).abs().max().item()
    for left in Path(folder()).glob("*.pt"):
        if int(left.stem) <= step:
            left.unlink()
    dances, songs = (names["validate"](network, notes) for notes in names["validation"].chunk(2))
    return {"difference": difference, "dances_loss": dances, "songs_loss": songs}
