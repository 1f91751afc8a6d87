"""Explanations of root causes: a bug's own why.py, run in an environment, with the fault put back on demand."""

import shutil
import tempfile
from pathlib import Path

from runner.bugs.model import FAULT, WHY, Bug
from runner.environments.runtime import Runtime
from runner.errors import UsageError
from runner.sandbox import env, process
from runner.sandbox.env import THREADS

TIMEOUT_S = 300


def programs(bug: Bug, inject: bool) -> list[Path]:
    """The programs to run, why.py last; raises UsageError where the bug does not ship them."""
    if bug.why is None:
        raise UsageError(f"{bug.id} ships no {WHY}; its README tells the root cause: {bug.directory / 'README.md'}")
    if inject and bug.fault is None:
        raise UsageError(f"{bug.id} ships no {FAULT}: its fault cannot be put back; leave out --inject")
    return [bug.fault, bug.why] if inject and bug.fault else [bug.why]


def explain(bug: Bug, runtime: Runtime, inject: bool) -> str:
    """What the bug's why.py prints in that runtime; raises UsageError where there is none, ProcessError if it fails."""
    called = programs(bug, inject)
    with tempfile.TemporaryDirectory(prefix="trainbugs-") as folder:
        for path in (*bug.scripts, *called):
            shutil.copy(path, folder)
        argv = [str(runtime.python_path), *(str(Path(folder, path.name)) for path in called)]
        return process.output(argv, env=env.clean_environment(THREADS, {"HOME": folder}), timeout_s=TIMEOUT_S)
