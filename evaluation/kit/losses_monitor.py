"""A monitor that writes the loss of each iteration to losses.json: what `backward` was called on."""

import atexit
import json
from pathlib import Path

LOSSES = []


class Losses:
    def before_backward(self, iteration, loss):
        if getattr(loss, "numel", lambda: 0)() == 1:
            LOSSES.append({"iteration": iteration, "loss": float(loss)})


def attach(model, optimizer, emit):
    return Losses()


def write():
    Path("losses.json").write_text(json.dumps(LOSSES))


atexit.register(write)
