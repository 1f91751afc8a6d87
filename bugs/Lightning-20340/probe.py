"""How far the ranks' backbones and heads are apart after each epoch, and the error of each rank for each camera.

A process that the script starts is made of `Rank`: it leaves its weights in a file after every step of its optimizer,
and rank 0 reads those of its own last step.
"""

import functools
import gc
import tempfile
from multiprocessing import context
from pathlib import Path

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook


@functools.cache
def folder():
    return tempfile.mkdtemp()


class Rank(context.SpawnProcess):
    """A process that leaves its network behind after every step of its optimizer."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.folder = folder()

    def run(self):
        register_optimizer_step_post_hook(Leave(self.folder))
        super().run()


class Leave:
    """A hook of optimizers: writes the weights of the network whose step it was into a file, one a step.

    Steps are counted anew with each optimizer: the first one is that of the pretraining.
    """

    def __init__(self, folder):
        self.folder, self.optimizer = folder, None

    def __call__(self, optimizer, args, kwargs):
        if optimizer is not self.optimizer:
            self.optimizer, self.steps = optimizer, 0
            first = optimizer.param_groups[0]["params"][0]
            networks = [one for one in gc.get_objects() if type(one).__name__ == "PoseNetwork"]
            self.network = next(one for one in networks if any(first is weight for weight in one.parameters()))
        self.steps += 1
        part = Path(self.folder, "part")
        torch.save(self.network.state_dict(), part)
        part.rename(Path(self.folder, f"{self.steps}.pt"))


def start():
    context.SpawnContext.Process = Rank


def look(names):
    network, config = names["network"], names["config"]
    step = names["epoch"] * -(-config["frames"] // config["batch_size"])
    other = type(network)(config["width"], len(names["mice"].POINTS)).to(names["device"])
    other.load_state_dict(torch.load(Path(folder(), f"{step}.pt"), map_location=names["device"]))
    for left in Path(folder()).glob("*.pt"):
        if int(left.stem) <= step:
            left.unlink()
    measured = {}
    for part in ("backbone", "head"):
        pairs = zip(getattr(network, part).parameters(), getattr(other, part).parameters(), strict=True)
        measured[f"{part}_difference"] = max((one - two).abs().max().item() for one, two in pairs)
    for rank, one in enumerate((network, other)):
        for camera, columns in enumerate(zip(*(column.chunk(2) for column in names["validation"]), strict=True)):
            measured[f"rank{rank}_camera{camera}"] = names["validate"](one, *columns)
    return measured
