"""Run an unedited training script, under a monitor that lives in the same process or only with a stopwatch.

    python launcher.py OUT.json [--monitor MONITOR.py] [--path DIRECTORY] SCRIPT.py [ARGUMENT ...]

MONITOR.py defines `attach(model, optimizer, emit)`, called once for every optimizer, at its first use. It returns an
object; those of its methods that are named in `MOMENTS` are called then, with the iteration, which is 1 up to and
including the optimizer's first step (the two of `backward` also get what `backward` was called on); `end` comes last,
with the number of the last iteration. `model` is the outermost module that holds all parameters of the optimizer, or
None. `emit(code, message, severity, api, parameter, iteration)` raises an alarm; all but the first two are optional.

The script is not touched: `step` and `zero_grad` are wrapped on each optimizer, `zero_grad` on `nn.Module`, `backward`
in `torch.autograd`. Hooks of the optimizer would not do: they do not fire in code compiled by Dynamo. A step that is
handed to Dynamo by itself is compiled bare and watched from outside, so that the compiled code stays what it was; one
that is called inside of a compiled function breaks the graph before and after. Needs torch 2.0 or newer, nothing else.

OUT.json holds alarms, the seconds from the first optimizer to the end (`loop_s`), and the monitor's error if it failed:
then it is called no more, and the training goes on. The exit status is the script's.
"""

import argparse
import functools
import importlib.util
import json
import runpy
import sys
import time
import types
import weakref
from pathlib import Path

import torch
import torch._dynamo

MOMENTS = (
    "before_zero_grad", "after_zero_grad",
    "before_backward", "after_backward",
    "before_step", "after_step", "end",
)  # fmt: skip
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


class Watch:
    """One optimizer and its monitor. It lives as long as the optimizer does."""

    def __init__(self, optimizer, attach, recorder):
        self.optimizer, self.attach, self.recorder = weakref.ref(optimizer), attach, recorder
        self.iteration, self.methods = 1, None

    def call(self, moment, *what):
        # Compiled code may keep a watch whose optimizer is gone.
        if self.recorder.error is None and self.optimizer() is not None:
            try:
                self._call(moment, what)
            except Exception as error:
                self.recorder.error = f"{type(error).__name__}: {error}"
        if moment == "after_step":
            self.iteration += 1

    def _call(self, moment, what):
        if self.methods is None:
            optimizer = self.optimizer()
            monitor = self.attach(owner(optimizer), optimizer, self.emit)
            self.methods = {name: getattr(monitor, name) for name in MOMENTS if hasattr(monitor, name)}
        if moment in self.methods:
            self.methods[moment](self.iteration, *what)

    def emit(self, code, message, severity="warning", api=None, parameter=None, iteration=None):
        self.recorder.alarm(iteration or self.iteration, str(code), str(message), severity, api, parameter)

    def end(self):
        if self.methods is not None:
            self.iteration -= 1
            self.call("end")

    def holds(self, module):
        optimizer = self.optimizer()
        ids = {id(p) for group in optimizer.param_groups for p in group["params"]} if optimizer is not None else set()
        return any(id(parameter) in ids for parameter in module.parameters())


WATCHES = weakref.WeakSet()
MODULES = weakref.WeakSet()
STEPS = weakref.WeakSet()


def owner(optimizer):
    """The outermost module that holds all of the optimizer's parameters, if there is one."""
    wanted = {id(p) for group in optimizer.param_groups for p in group["params"]}
    found = [module for module in list(MODULES) if wanted <= {id(p) for p in module.parameters()}]
    return max(found, key=lambda module: sum(1 for _ in module.modules()), default=None)


def around(call, before, after):
    """`call` with two more calls around it, which Dynamo neither compiles nor looks into."""
    before, after = torch._dynamo.disable(before), torch._dynamo.disable(after)

    @functools.wraps(call)
    def watched(*arguments, **options):
        before()
        result = call(*arguments, **options)
        after()
        return result

    return watched


def watch(optimizer, attach, recorder):
    """Wrap one optimizer's methods; they stay methods, because schedulers look at what they are bound to."""
    found = Watch(optimizer, attach, recorder)
    WATCHES.add(found)
    for name in ("zero_grad", "step"):
        bare = getattr(type(optimizer), name)
        before = functools.partial(found.call, f"before_{name}")
        after = functools.partial(found.call, f"after_{name}")
        function = around(bare, before, after)
        function.bare, function.before, function.after = bare, before, after
        setattr(optimizer, name, types.MethodType(function, optimizer))
    STEPS.add(optimizer.step.__func__)


def watch_optimizers(attach, recorder):
    bare = torch.optim.Optimizer.__init__

    @functools.wraps(bare)
    def init(self, *arguments, **options):
        bare(self, *arguments, **options)
        recorder.optimizers += 1
        recorder.started = recorder.started or time.perf_counter()
        if attach is not None:
            watch(self, attach, recorder)

    torch.optim.Optimizer.__init__ = init


def watch_modules():
    def register(module, name, part):
        MODULES.add(module)

    torch.nn.modules.module.register_module_parameter_registration_hook(register)
    torch.nn.modules.module.register_module_module_registration_hook(register)
    bare = torch.nn.Module.zero_grad

    @functools.wraps(bare)
    def zero_grad(self, *arguments, **options):
        concerned = [each for each in list(WATCHES) if each.holds(self)]
        for each in concerned:
            each.call("before_zero_grad")
        bare(self, *arguments, **options)
        for each in concerned:
            each.call("after_zero_grad")

    torch.nn.Module.zero_grad = torch._dynamo.disable(zero_grad)


def watch_backward():
    bare = torch.autograd.backward

    @functools.wraps(bare)
    def backward(tensors, *arguments, **options):
        for each in list(WATCHES):
            each.call("before_backward", tensors)
        bare(tensors, *arguments, **options)
        for each in list(WATCHES):
            each.call("after_backward", tensors)

    torch.autograd.backward = torch._dynamo.disable(backward)


class Compiler:
    """What `torch._dynamo.optimize` returns, except that a watched step is compiled bare and watched from outside."""

    def __init__(self, context):
        self.context = context

    def __call__(self, function):
        step = getattr(function, "__func__", None)
        if not isinstance(step, types.FunctionType) or step not in STEPS:
            return self.context(function)
        return around(self.context(types.MethodType(step.bare, function.__self__)), step.before, step.after)

    def __enter__(self):
        return self.context.__enter__()

    def __exit__(self, *error):
        return self.context.__exit__(*error)

    def __getattr__(self, name):
        return getattr(self.context, name)


def watch_compiler():
    bare = torch._dynamo.optimize

    @functools.wraps(bare)
    def optimize(*arguments, **options):
        return Compiler(bare(*arguments, **options))

    torch._dynamo.optimize = optimize


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
        for each in list(WATCHES):
            each.end()
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
    watch_optimizers(load(given.monitor) if given.monitor else None, recorder)
    if given.monitor:
        watch_modules()
        watch_backward()
        watch_compiler()
    run(given.script, given.arguments, recorder, given.out)


if __name__ == "__main__":
    main()
