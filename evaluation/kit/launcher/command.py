"""The command line of the launcher, and the run of the script."""

import argparse
import runpy
import sys
import time

from . import joining, processes, session
from .report import Recorder


def run(script, arguments, watching, is_module=False):
    """Run the script to its end, and write the report."""
    recorder = watching.recorder
    sys.argv = [script, *arguments]
    # For a module this is the working directory, as by `python -m`.
    sys.path[0] = str(recorder.script.parent)
    started = time.perf_counter()
    try:
        if is_module:
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(str(recorder.script), run_name="__main__")
    finally:
        recorder.finish(started)
        watching.end()
        joining.join(watching)
        recorder.write()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--monitor")
    parser.add_argument("--path", action="append", default=[])
    parser.add_argument("--module", action="store_true")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    # Behind everything else: packages of the script's own environment come first.
    sys.path += options.path
    watching = session.watch(Recorder(options.script, options.out, options.monitor))
    processes.follow(watching)
    run(options.script, options.arguments, watching, options.module)
