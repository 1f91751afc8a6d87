"""The processes that a watched program starts: each has a monitor and a report of its own."""

import json
import multiprocessing.util
import os
import shutil
import sys
import time
from pathlib import Path

from . import session
from .report import Recorder

MAIN = Path(__file__).resolve().with_name("__main__.py")
# How the code of new interpreters begins: of `spawn`, and of the one that `forkserver` copies for each process.
STARTERS = ("from multiprocessing.spawn import", "from multiprocessing.forkserver import")


def reports_folder(recorder):
    """The folder in which the other processes leave their reports."""
    return recorder.out.with_name(f"{recorder.out.name}.processes")


def follow(watching):
    """Watch what the program starts by `multiprocessing`: copies of this process, and new interpreters."""
    recorder = watching.recorder
    shutil.rmtree(reports_folder(recorder), ignore_errors=True)
    reports_folder(recorder).mkdir()
    multiprocessing.util.register_after_fork(watching, _begin)
    bare = multiprocessing.util.spawnv_passfds
    first = _first_statements(recorder)

    def spawn(path, command, files):
        place = command.index("-c") + 1 if "-c" in command else None
        if place and str(command[place]).startswith(STARTERS):
            code = first + command[place]
            command = [*command[:place], code, *command[place + 1 :]]
        return bare(path, command, files)

    multiprocessing.util.spawnv_passfds = spawn


def _first_statements(recorder):
    """The code with which a new interpreter begins to watch itself."""
    arguments = (str(recorder.script), str(recorder.out), recorder.monitor, list(sys.path))
    load = f"__import__('runpy').run_path({str(MAIN)!r})['load']"
    return f"{load}('processes').begin_new(*{arguments!r}); "


def begin_new(script, out, monitor, path):
    """In a new interpreter, before the program's own code: watch it as the first one is watched."""
    sys.path += [folder for folder in path if folder not in sys.path]
    watching = session.watch(Recorder(script, out, monitor))
    multiprocessing.util.register_after_fork(watching, _begin)
    _begin(watching)


def _begin(watching):
    """At the start of such a process: what was seen before it was copied belongs to the first one."""
    recorder = watching.recorder
    recorder.forget()
    started = time.perf_counter()

    def report():
        recorder.finish(started)
        if recorder.steps:
            watching.end()
        folder = reports_folder(recorder)
        if folder.is_dir() and not recorder.is_empty():
            recorder.write(folder / f"{os.getpid()}.json")

    # `atexit` is not called where such processes end.
    multiprocessing.util.Finalize(None, report, exitpriority=0)


def reports(recorder):
    """The reports of the processes, by process number; one that was killed has none."""
    paths = sorted(reports_folder(recorder).glob("*.json"))
    return [json.loads(path.read_text()) for path in paths]
