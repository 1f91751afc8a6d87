"""The processes that a watched program starts: each has a monitor and a report of its own."""

import json
import multiprocessing.util
import os
import shutil
import sys
import time
from pathlib import Path

KIT = Path(__file__).resolve().parent
# What new interpreters begin with: those of `spawn`, and the one that is copied for each process of `forkserver`.
STARTERS = ("from multiprocessing.spawn import", "from multiprocessing.forkserver import")


def folder_of(recorder):
    return recorder.out.with_name(f"{recorder.out.name}.processes")


def follow(session):
    """Watch what the program starts by `multiprocessing`: copies of this process, and new interpreters."""
    recorder = session.recorder
    shutil.rmtree(folder_of(recorder), ignore_errors=True)
    folder_of(recorder).mkdir()
    multiprocessing.util.register_after_fork(session, _begin)
    bare = multiprocessing.util.spawnv_passfds
    begin = (str(recorder.script), str(recorder.out), recorder.monitor, list(sys.path))
    first = f"import sys; sys.path.append({str(KIT)!r}); import launcher_processes as p; p.begin_new(*{begin!r}); "

    def spawn(path, command, files):
        at = command.index("-c") + 1 if "-c" in command else None
        if at and str(command[at]).startswith(STARTERS):
            command = [*command[:at], first + command[at], *command[at + 1 :]]
        return bare(path, command, files)

    multiprocessing.util.spawnv_passfds = spawn


def begin_new(script, out, monitor, path):
    """In a new interpreter, before the program's own code: watch it as the first one is."""
    import launcher
    from launcher_record import Recorder

    sys.path += [each for each in path if each not in sys.path]
    session = launcher.watch(Recorder(script, out, monitor))
    # The program may have a module of that name.
    del sys.modules["launcher"]
    multiprocessing.util.register_after_fork(session, _begin)
    _begin(session)


def _begin(session):
    """At the start of such a process: what was seen before it was copied belongs to the first one."""
    recorder = session.recorder
    recorder.forget()
    started = time.perf_counter()

    def report():
        recorder.finish(started)
        if recorder.steps:
            session.end()
        if folder_of(recorder).is_dir() and not recorder.is_empty():
            recorder.write(folder_of(recorder) / f"{os.getpid()}.json")

    # `atexit` is not called where such processes end.
    multiprocessing.util.Finalize(None, report, exitpriority=0)


def reports(recorder):
    """What the processes have reported, by process number; one that was killed has none."""
    return [json.loads(path.read_text()) for path in sorted(folder_of(recorder).glob("*.json"))]
