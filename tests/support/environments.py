"""Environments of toys."""

import io

from runner.environments import spec
from runner.progress.lines import Progress

QUIET = Progress(io.StringIO())


def load(toy):
    return spec.load(toy.root, "toy")
