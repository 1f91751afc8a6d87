"""Environments of toys."""

import io
import json
import shutil

from runner.environments import spec
from runner.progress.lines import Progress

QUIET = Progress(io.StringIO())


def load(toy):
    return spec.load(toy.root, "toy")


def add_a_bug_without_environment(toy):
    """Add Toy-2, whose environment names a package that cannot be had."""
    broken = toy.root / "environments" / "broken"
    shutil.copytree(toy.root / "environments" / "toy", broken)
    (broken / "requirements.txt").write_text(f"nosuchpackage==3.2.1 --hash=sha256:{'0' * 64}\n")
    second = toy.directory.with_name("Toy-2")
    shutil.copytree(toy.directory, second)
    config = json.loads((second / "config.json").read_text())
    (second / "config.json").write_text(
        json.dumps(config | {"id": "Toy-2", "environment": "broken"})
    )
