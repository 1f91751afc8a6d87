"""Run an unedited training script, under a monitor that lives in the same process or only with a stopwatch.

    python launcher.py OUT.json [--monitor MONITOR.py] [--path DIRECTORY] SCRIPT.py [ARGUMENT ...]

MONITOR.py defines `attach(model, optimizer, emit)`, called once for each optimizer, before the first forward pass after
its construction (where something is compiled earlier: then; and after that at the optimizer's first use). It returns an
object; those of its methods that are named in `MOMENTS` of launcher_watch.py are called later, with the iteration,
which is 1 up to and including the optimizer's first step (the two of `backward` also get what `backward` was called
on); `end` comes last, with the number of the last iteration. `model` is the outermost module that holds all parameters
of the optimizer, or None. `emit(code, message, severity, api, parameter, iteration)` raises an alarm; all but the first
two are optional.

The script is not touched: `step` and `zero_grad` are wrapped on each optimizer, `zero_grad` on `nn.Module`, `backward`
in `torch.autograd`. Hooks of the optimizer would not do: they do not fire in code compiled by Dynamo. A step that is
handed to Dynamo by itself is compiled bare and watched from outside, so that the compiled code stays what it was; one
that is called inside of a compiled function breaks the graph before and after. Needs torch 2.0 or newer, nothing else.

OUT.json holds alarms, the seconds from the first optimizer to the end (`loop_s`), and the monitor's error if it failed:
then it is called no more, and the training goes on. The exit status is the script's.
"""

import argparse
import importlib.util
import json
import runpy
import sys
import time
from pathlib import Path

import launcher_watch

MAX_ALARMS = 1000


class Recorder:
    """What is written in the end."""

    def __init__(self, script):
        self.script, self.alarms, self.dropped, self.error = Path(script).resolve(), [], 0, None
        self.optimizers, self.started, self.loop_s = 0, None, None

    def alarm(self, iteration, code, message, severity, api, parameter):
        if len(self.alarms) == MAX_ALARMS:
            self.dropped += 1
            return
        frame = sys._getframe()
        while frame and Path(frame.f_code.co_filename).parent != self.script.parent:
            frame = frame.f_back
        where = (Path(frame.f_code.co_filename).name, frame.f_lineno) if frame else (None, None)
        names = ("iteration", "file", "line", "api", "parameter", "code", "message", "severity")
        self.alarms.append(dict(zip(names, (iteration, *where, api, parameter, code, message, severity))))  # noqa: B905

    def write(self, path):
        names = ("alarms", "dropped", "optimizers", "loop_s", "error")
        Path(path).write_text(json.dumps({name: getattr(self, name) for name in names}, indent=1), encoding="utf-8")


def load(path):
    specification = importlib.util.spec_from_file_location("monitor", path)
    module = importlib.util.module_from_spec(specification)
    sys.path.insert(0, str(Path(path).resolve().parent))
    specification.loader.exec_module(module)
    sys.path.pop(0)
    return module.attach


def run(script, arguments, recorder, out):
    sys.argv = [script, *arguments]
    sys.path[0] = str(recorder.script.parent)
    started = time.perf_counter()
    try:
        runpy.run_path(str(recorder.script), run_name="__main__")
    finally:
        recorder.loop_s = time.perf_counter() - (recorder.started or started)
        launcher_watch.end()
        recorder.write(out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--monitor")
    parser.add_argument("--path", action="append", default=[])
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    # Behind everything else: packages of the script's own environment come first.
    sys.path += given.path
    recorder = Recorder(given.script)
    launcher_watch.begin(load(given.monitor) if given.monitor else None, recorder)
    run(given.script, given.arguments, recorder, given.out)


if __name__ == "__main__":
    main()
