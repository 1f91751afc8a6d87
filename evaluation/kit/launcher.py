"""Run an unedited training script, under a monitor that lives in the same process or only with a stopwatch.

    python launcher.py OUT.json [--monitor MONITOR.py] [--path DIRECTORY] SCRIPT.py [ARGUMENT ...]

With `--module` the script is the name of a module, which is run as by `python -m`.

MONITOR.py defines one of two functions, or both.

`attach(model, optimizer, emit)` is called once for each optimizer, before the first forward pass after its construction
(where something is compiled earlier: then; and after that at the optimizer's first use). It returns an object; those of
its methods that are named in `MOMENTS` of launcher_watch.py are called later, with the iteration, which is 1 up to and
including the optimizer's first step (the two of `backward` also get what `backward` was called on); `end` comes last,
with the number of the last iteration. `model` is the outermost module that holds all parameters of the optimizer, or
None; a fourth argument named `program` is the Program of launcher_program.py.

`watch(program, emit)` is called once in each process, before the script begins. It returns an object; those of its
methods that are moments of `HOOKS` in launcher_hooks.py are called later, and besides `before_zero_grad`,
`after_zero_grad`, `before_step`, `after_step` with the optimizer, `before_backward` and `after_backward` with the
tensors, and `end`. `join(notes)` comes last, in the first process alone: what `Program.note` was given in each process.

`emit(code, message, severity, api, parameter, iteration)` raises an alarm; all but the first two are optional. An alarm
counts the iterations of the program: those of the optimizer, and those that others have done before it began. The
launcher notes beside it, as `seen`, in which iteration it was raised (at the end: one more than there were).

The script is not touched: `step` and `zero_grad` are wrapped on each optimizer, `zero_grad` on `nn.Module`, `backward`
in `torch.autograd`. Hooks of the optimizer would not do: they do not fire in code compiled by Dynamo. A step that is
handed to Dynamo by itself is compiled bare and watched from outside, so that the compiled code stays what it was; one
that is called inside of a compiled function breaks the graph before and after. These, the registration of modules and
parameters, and `torch._dynamo.optimize` are hooked under every monitor; of the moments of `HOOKS` only those that a
monitor has a method for. Nothing is told from inside of a transform of functorch, of `torch.jit.trace` or of the
recording of a CUDA graph. Processes that the script starts by `multiprocessing` are watched too, each with a monitor of
its own. Needs torch 2.0 or newer, nothing else.

OUT.json holds alarms, the number of optimizers, the seconds from the first optimizer to the end (`loop_s`), and the
monitor's error and traceback if it failed: then it is called no more, and the training goes on. The exit status is the
script's.
"""

import argparse
import importlib.util
import runpy
import sys
import time
from pathlib import Path

import launcher_processes
import launcher_watch
from launcher_record import Recorder


def load(path):
    specification = importlib.util.spec_from_file_location("monitor", path)
    module = importlib.util.module_from_spec(specification)
    sys.path.insert(0, str(Path(path).resolve().parent))
    specification.loader.exec_module(module)
    sys.path.pop(0)
    return module


def watch(recorder):
    """Begin to watch this process, with the recorder's monitor or only a stopwatch."""
    return launcher_watch.begin(load(recorder.monitor) if recorder.monitor else None, recorder)


def run(script, arguments, recorder, session, module=False):
    sys.argv = [script, *arguments]
    # Of a module that is the working directory, as by `python -m`.
    sys.path[0] = str(recorder.script.parent)
    started = time.perf_counter()
    try:
        if module:
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(str(recorder.script), run_name="__main__")
    finally:
        recorder.finish(started)
        session.end()
        reports = launcher_processes.reports(recorder)
        iterations = max((report["iterations"] for report in reports), default=0)
        session.join([recorder.notes, *(report["notes"] for report in reports)], iterations)
        recorder.take(reports)
        recorder.write()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--monitor")
    parser.add_argument("--path", action="append", default=[])
    parser.add_argument("--module", action="store_true")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    # Behind everything else: packages of the script's own environment come first.
    sys.path += given.path
    recorder = Recorder(given.script, given.out, given.monitor)
    session = watch(recorder)
    launcher_processes.follow(session)
    run(given.script, given.arguments, recorder, session, given.module)


if __name__ == "__main__":
    main()
