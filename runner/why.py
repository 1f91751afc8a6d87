"""Why does a bug happen? Runs the bug's own why.py in an environment, with the fault put back on demand."""

import shutil
import tempfile
from pathlib import Path

from runner import process
from runner.errors import UsageError
from runner.key import THREADS
from runner.model import FAULT, WHY, Bug
from runner.place import Place

TIMEOUT_S = 300


def explain(bug: Bug, place: Place, inject: bool) -> str:
    """What the bug's why.py prints in that place; raises UsageError where there is none, ProcessError if it fails."""
    if bug.why is None:
        raise UsageError(f"{bug.id} ships no {WHY}; its README tells the root cause: {bug.directory / 'README.md'}")
    if inject and bug.fault is None:
        raise UsageError(f"{bug.id} ships no {FAULT}: its fault cannot be put back; leave out --inject")
    with tempfile.TemporaryDirectory(prefix="trainbugs-") as folder:
        for path in (*bug.scripts, *filter(None, (bug.why, bug.fault))):
            shutil.copy(path, folder)
        argv = [str(place.python_path), *([str(Path(folder, FAULT))] if inject else []), str(Path(folder, WHY))]
        return process.output(argv, env=process.clean_environment(THREADS, {}), timeout_s=TIMEOUT_S)
