"""The start of a bug's program, or of a detector that looks at one: environment variables, limits
and streams.
"""

import os
import site
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from runner.environments.spec import cache_root
from runner.execution.downloads import cache_for
from runner.execution.run import Run
from runner.sandbox import env, process
from runner.sandbox.access import Access, closed_access, open_access
from runner.sandbox.env import THREADS
from runner.sandbox.isolation import isolation
from runner.sandbox.process import Finished
from runner.sandbox.streams import Streams

NOWHERE = Path(os.devnull)
# What a program did whose folder is not the one in which it was started.
REPLACED = "put something else in the place of its working directory"


def launch(
    argv: Sequence[str],
    directory: Path,
    run: Run,
    *,
    timeout_s: float,
    streams: Streams | None = None,
    extra: Mapping[str, str] | None = None,
    reads: Iterable[Path] = (),
    room: Path | None = None,
    hidden: Iterable[Path] = (),
    closed: bool = False,
    on_wait: Callable[[float], None] = lambda elapsed_s: None,
) -> Finished:
    """Start a program in `directory` with the device, data and limits of `run`, and wait for its
    end.

    Its temporary folder lies in its `room`, or is noted beside `directory`, in a folder that the
    next command removes if need be.

    It may write in its temporary folder and its `room`, which holds `directory` and nothing that is
    not its own; None: in `directory`. It may read everything but the user's HOME, temporary files
    and trainbugs; if it is `closed` in, only the system. In both cases it may read what the run's
    interpreter needs, and `reads`, and nothing below `hidden`.

    It sees a clean environment, the run's own variables, and the `extra` ones. What it says goes to
    `streams`; None: nowhere. `on_wait` is called with the seconds elapsed, many times a second.
    Raises ProcessError where the program cannot be started, UsageError where the network cannot be
    cut.
    """
    stdout, stderr = streams or (NOWHERE, NOWHERE)
    access = _access(run, [Path(argv[0]), *reads], [room or directory], hidden, closed)
    limits = replace(run.limits, access=access, scratch=directory.parent, room=room)
    with _watch_replacement(directory) as replaced:
        finished = process.run(
            argv,
            cwd=directory,
            env=env.clean_environment(THREADS, variables(run, directory) | dict(extra or {})),
            stdout=stdout,
            stderr=stderr,
            timeout_s=timeout_s,
            on_wait=on_wait,
            limits=limits,
        )
        return replace(finished, exceeded=REPLACED) if replaced() else finished


@contextmanager
def _watch_replacement(directory: Path) -> Iterator[Callable[[], bool]]:
    """A function that says whether a program has put something else in the place of its folder.

    Whatever that is, it is moved away, and an empty folder is there instead: nobody reads through a
    link of a program.
    """
    descriptor = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)

    def replaced() -> bool:
        original = os.fstat(descriptor)
        try:
            present = directory.lstat()
        except OSError:
            present = None
        if present is not None and os.path.samestat(present, original):
            return False
        if present is not None:
            directory.rename(directory.with_name(f"{directory.name}-{os.urandom(4).hex()}"))
        directory.mkdir(parents=True)
        return True

    try:
        yield replaced
    finally:
        os.close(descriptor)


def _access(
    run: Run, reads: Iterable[Path], writes: Sequence[Path], hidden: Iterable[Path], closed: bool
) -> Access:
    data = [run.data] if run.data else []
    # A detector that only reads a program is not shown what would run it.
    python = [run.runtime.python_path] if run.runtime.paths else []
    needed = [*writes, *reads, *python, *run.runtime.paths, *data, cache_root() / "data"]
    make = closed_access if closed else open_access
    return make(writes, needed, isolation(), hidden)


def variables(run: Run, directory: Path) -> dict[str, str]:
    """Environment variables of this run alone; every run has others, too."""
    values = {
        "TRAINBUGS_CACHE": str(cache_for(run, directory)),
        # A cache for each run: what inductor has compiled in one run must not make another one
        # faster.
        "TORCHINDUCTOR_CACHE_DIR": str(directory / "inductor"),
    }
    if run.data:
        values["TRAINBUGS_DATA"] = str(run.data)
    if run.runtime.built is None:
        # The user's own interpreter keeps its packages from `pip install --user`, although HOME is
        # another folder.
        values["PYTHONUSERBASE"] = site.getuserbase()
    if run.case.program.data and run.data is None and run.network:
        values |= env.inherited(env.FOR_DOWNLOADS)
    if run.gpu is not None:
        values["CUDA_VISIBLE_DEVICES"] = str(run.gpu)
    return values
