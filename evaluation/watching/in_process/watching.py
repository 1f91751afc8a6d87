"""Watch a training from inside of it: a block of a script, a cell of a notebook, or all that
follows.

    with trainbugs.watching():
        train(model)

    watched = trainbugs.watch(model, optimizer)
"""

from __future__ import annotations

import atexit
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, TextIO

from evaluation.watching.in_process.engine import engine, is_watched_from_outside, live_objects
from evaluation.watching.in_process.text import ARGUMENT, report_text
from evaluation.watching.report import WatchedAlarm, WatchReport
from evaluation.watching.silencing import Silencing


class BrokenInvariantError(Exception):
    """An invariant of training is broken; the text says which one, where, and what may mend it."""


class Watching:
    """A watched part of a program. `report` is None until it has ended, and where the program runs
    under `trainbugs watch`, which reports by itself.
    """

    def __init__(
        self,
        ignore: Sequence[str] = (),
        light: bool = False,
        info: bool = True,
        strict: bool = False,
        stream: TextIO | None = None,
        silencer: str = ARGUMENT,
    ) -> None:
        self.ignore = (ignore,) if isinstance(ignore, str) else tuple(ignore)
        self.light, self.info, self.strict = light, info, strict
        self._stream, self._silencer = stream, silencer
        self._recorder: Any = None
        self._started = 0.0
        self.report: WatchReport | None = None

    def __enter__(self) -> Watching:
        self.start(*live_objects())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop(raises=error is None)

    def start(self, optimizers: Sequence[Any] = (), modules: Sequence[Any] = ()) -> None:
        """Begin to watch, these objects and all that are made from now on.

        Raises RuntimeError where this process is watched already, ValueError for an unknown name in
        `ignore`.
        """
        if is_watched_from_outside():
            return
        watching = engine()
        if watching.active:
            raise RuntimeError("this process is watched already: end the first watching before")
        settings = {"ignore": list(self.ignore), "light": self.light}
        self._started = time.perf_counter()
        self._recorder = watching.start(settings)
        watching.adopt(optimizers, modules)
        # What nobody ends, as after an error, ends with the process.
        atexit.register(self._at_exit)

    def stop(self, raises: bool = True) -> WatchReport | None:
        """End the watching, and tell what was seen; a second call does nothing.

        Raises BrokenInvariantError for an error, if the watching is strict and `raises` is true.
        """
        if self._recorder is None:
            return self.report
        atexit.unregister(self._at_exit)
        engine().stop()
        recorder, self._recorder = self._recorder, None
        recorder.finish(self._started)
        self.report = _as_report(recorder.report())
        # A rank that ended by an error would end the first one, which tells for all.
        if not self.report.told_elsewhere:
            self._tell(raises and self.strict)
        return self.report

    def _at_exit(self) -> None:
        self.stop(raises=False)

    def _tell(self, raises: bool) -> None:
        text = self.text()
        if raises and self.audible is not None and self.audible.has_error:
            raise BrokenInvariantError(text)
        print(text, file=self._stream or sys.stderr)

    @property
    def audible(self) -> WatchReport | None:
        """The report without what comments in the program silence."""
        return Silencing(self.report, "").audible if self.report else None

    def text(self) -> str:
        """What was seen, for a person; empty where there is no report."""
        if self.report is None:
            return ""
        silencing = Silencing(self.report, "")
        return report_text(silencing, self.ignore, self.info, self._silencer, engine().names)


def watching(
    *,
    ignore: Sequence[str] = (),
    light: bool = False,
    info: bool = True,
    strict: bool = False,
    stream: TextIO | None = None,
) -> Watching:
    """A context: what trains inside of it is watched, also models and optimizers that were made
    before.

    At its end the text goes to `stream`, or standard error. `ignore` names invariants to leave out,
    `light` leaves out what copies or computes much, and `info` shows advice. With `strict` an error
    raises BrokenInvariantError.
    """
    return Watching(ignore, light, info, strict, stream)


def watch(
    *parts: Any,
    ignore: Sequence[str] = (),
    light: bool = False,
    info: bool = True,
    strict: bool = False,
    stream: TextIO | None = None,
) -> Watching:
    """Watch from now on: these modules and optimizers, and all that are made later.

    Ends at `stop()` of the result, or with the process. Raises TypeError for anything else than
    modules and optimizers. The other arguments are those of `watching`.
    """
    import torch

    optimizers = [part for part in parts if isinstance(part, torch.optim.Optimizer)]
    models = [part for part in parts if isinstance(part, torch.nn.Module)]
    for part in parts:
        if not isinstance(part, (torch.nn.Module, torch.optim.Optimizer)):
            raise TypeError(
                f"watch() got {type(part).__name__}, expected modules and optimizers: "
                "watch(model, optimizer)"
            )
    modules = [module for model in models for module in model.modules()]
    started = Watching(ignore, light, info, strict, stream)
    started.start(optimizers, modules)
    return started


def _as_report(values: dict[str, Any]) -> WatchReport:
    fields = WatchReport.__dataclass_fields__
    alarm_fields = WatchedAlarm.__dataclass_fields__
    alarms = [WatchedAlarm(**_chosen(alarm, alarm_fields)) for alarm in values["alarms"]]
    return WatchReport(**{**_chosen(values, fields), "alarms": tuple(alarms)})


def _chosen(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: values[name] for name in names}
