"""A watched process: the monitor, and the program that it sees."""

import importlib.util
import sys
import weakref
from pathlib import Path

import torch

from . import compiler, hooks, optimizers
from .calls import uncompiled
from .program import Program, Teller


class MonitorSession:
    """A watched process and its monitor, whose file defines `attach`, `watch`, both or none."""

    def __init__(self, monitor, recorder):
        self.teller = Teller()
        self.start(monitor, recorder)

    def start(self, monitor, recorder):
        """Watch by this monitor from now on, in the place of an earlier one."""
        self.recorder, self.program = recorder, Program(recorder)
        self.foreign_iterations = 0
        # Optimizers that were there before, and have not stepped since.
        self.adopted = weakref.WeakSet()
        self.attach = getattr(monitor, "attach", None)
        self.has_monitor = monitor is not None
        self.teller.program, self.teller.recorder = self.program, recorder
        self.teller.monitor = self._start(monitor)

    def stop(self):
        """Tell nobody anything from now on; the hooks stay, and do nothing."""
        self.teller.monitor, self.attach, self.has_monitor = None, None, False

    def _start(self, monitor):
        """The object that the monitor's `watch` returns; None if there is none."""
        if not hasattr(monitor, "watch"):
            return None
        try:
            return monitor.watch(self.program, self.emit)
        except Exception as error:
            self.recorder.fail(error)
            return None

    def emit(
        self, code, message, severity="warning", api=None, parameter=None, iteration=None, where=None
    ):  # fmt: skip
        """Raise an alarm; `iteration` is the program's, `where` a file and a line of `Program.here`."""
        number = iteration or self.program.iteration
        self.recorder.alarm(
            number, str(code), str(message), severity, api, parameter, self.iteration, where
        )

    def end(self):
        """Tell the monitor that the training has ended."""
        for watch in list(optimizers.WATCHES):
            watch.end()
        self.teller.tell("end")

    @property
    def iteration(self):
        """The iteration of the program now; once other processes have ended, at least the one after their last."""
        return max(self.program.iteration, self.foreign_iterations + 1)

    def join(self, notes, iterations):
        """Tell the monitor the notes of each process, this one first; the others have done so many iterations."""
        self.foreign_iterations = iterations
        self.teller.tell("join", notes)


def watch(recorder):
    """Begin to watch this process, with the recorder's monitor or only a stopwatch."""
    return begin(load(recorder.monitor) if recorder.monitor else None, recorder)


def load(path):
    """The module of a monitor, which may import what lies beside it."""
    specification = importlib.util.spec_from_file_location("monitor", path)
    module = importlib.util.module_from_spec(specification)
    sys.path.insert(0, str(Path(path).resolve().parent))
    specification.loader.exec_module(module)
    sys.path.pop(0)
    return module


def begin(monitor, recorder, wants=None):
    """Watch what the program is going to do; without a monitor, only note the time of its first optimizer.

    `wants(*moments)` says which moments to hook; by default those of which the monitor has one.
    """
    session = MonitorSession(monitor, recorder)
    if session.has_monitor:
        hooks.install(uncompiled(session.teller.tell), wants or session.teller.wants)
        optimizers.FORWARD.bare = torch.nn.Module.__call__
    optimizers.hook_optimizers(session)
    if session.has_monitor:
        optimizers.hook_modules(session)
        optimizers.hook_backward(session)
        compiler.hook_compiler(session)
    return session
