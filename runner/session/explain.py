"""Explanations of root causes: a bug's own why.py, run in an environment, with the fault put back
on demand.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from runner.bugs.bug import FAULT, WHY, Bug
from runner.environments.runtime import Runtime
from runner.errors import EnvironmentBuildError, ProcessError, UsageError
from runner.files.locks import working_folder
from runner.files.untrusted import printable_lines
from runner.sandbox import env, process
from runner.sandbox.access import open_access
from runner.sandbox.env import THREADS
from runner.sandbox.isolation import isolation
from runner.sandbox.limits import Limits, default_memory_mb
from runner.sandbox.streams import blocks, open_streams

TIMEOUT_S = 300


def programs(bug: Bug, inject: bool) -> list[Path]:
    """The programs to run, why.py last; raises UsageError where the bug does not ship them."""
    if bug.why is None:
        raise UsageError(
            f"{bug.id} ships no {WHY}; its README tells the root cause: "
            f"{bug.directory / 'README.md'}"
        )
    if inject and bug.fault is None:
        raise UsageError(
            f"{bug.id} ships no {FAULT}: its fault cannot be put back; leave out --inject"
        )
    return [bug.fault, bug.why] if inject and bug.fault else [bug.why]


def explain(bug: Bug, runtime: Runtime, inject: bool) -> str:
    """What the bug's why.py prints in that runtime.

    Raises UsageError where there is none, EnvironmentBuildError where the runtime is broken,
    ProcessError if it fails. What would move the cursor of a terminal is shown escaped.
    """
    called = programs(bug, inject)
    if runtime.broken:
        remedy = f"; {runtime.built.remedy}" if runtime.built else ""
        raise EnvironmentBuildError(f"{runtime.broken}{remedy}")
    with working_folder() as scratch:
        folder = scratch / "room" / "program"
        folder.mkdir(parents=True)
        for path in (*bug.scripts, *called):
            shutil.copy(path, folder)
        argv = [str(runtime.python_path), *(str(folder / path.name) for path in called)]
        text = _output(argv, folder, runtime)
    return printable_lines(text.replace("\r\n", "\n"))


def _output(argv: Sequence[str], folder: Path, runtime: Runtime) -> str:
    room, scratch = folder.parent, folder.parent.parent
    access = open_access([room], [room, runtime.python_path, *runtime.paths], isolation())
    limits = Limits(default_memory_mb(), access=access, scratch=scratch, room=room)
    with open_streams(scratch) as (out, err):
        done = process.run(
            argv,
            cwd=folder,
            env=env.clean_environment(THREADS, {}),
            stdout=out,
            stderr=err,
            timeout_s=TIMEOUT_S,
            limits=limits,
        )
        if done.timed_out or done.exceeded:
            raise ProcessError(f"{argv[-1]}: {done.exceeded or f'no end within {TIMEOUT_S} s'}")
        if done.returncode:
            raise ProcessError(
                f"{argv[-1]}: {process.error_in(err) or f'exit status {done.returncode}'}"
            )
        return b"".join(blocks(out)).decode("utf-8", errors="replace")
