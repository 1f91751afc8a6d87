"""The report that the launcher writes in the end: alarms, times and errors, also of processes that were started."""

import json
import os
import sys
import sysconfig
import time
import traceback
from pathlib import Path

MAX_ALARMS = 1000
KIT = f"{Path(__file__).absolute().parents[1]}{os.sep}"
INSTALLED = tuple(
    {
        os.path.realpath(sysconfig.get_path(name)) + os.sep
        for name in ("purelib", "platlib", "stdlib")
    }
)
ALARM_FIELDS = (
    "iteration", "file", "line", "api", "parameter", "code", "message", "severity", "seen",
)  # fmt: skip
REPORT_FIELDS = (
    "alarms", "dropped", "optimizers", "steps", "iterations", "loop_s", "error", "traceback",
    "notes", "ranks", "told_elsewhere",
)  # fmt: skip


def monitor_paths(monitor, script):
    """How the paths of the monitor's code begin: its folder, or itself alone where the script lies there too."""
    if monitor is None:
        return ()
    folder = f"{Path(monitor).parent}{os.sep}"
    return (monitor,) if str(script).startswith(folder) else (folder,)


class Recorder:
    """The report of one process."""

    def __init__(self, script, out, monitor=None):
        self.script, self.out = Path(script).resolve(), Path(out).resolve()
        self.monitor = monitor and str(Path(monitor).resolve())
        self.foreign_paths = (*INSTALLED, KIT, *monitor_paths(self.monitor, self.script))
        self.error, self.traceback = None, None
        self.forget()

    def forget(self):
        """Begin anew, in a copy of the process."""
        self.alarms, self.dropped, self.notes = [], 0, {}
        self.optimizers, self.steps, self.iterations = 0, 0, 0
        self.started, self.loop_s = None, None
        # How many ranks the report tells of; whether another one's report tells of this one, too.
        self.ranks, self.told_elsewhere = 1, False

    def alarm(self, iteration, code, message, severity, api, parameter, seen, where=None):
        """Keep an alarm; `seen` is the program's iteration now, whatever `iteration` says."""
        if len(self.alarms) == MAX_ALARMS:
            self.dropped += 1
            return
        file, line = where or self.here()
        values = (iteration, file, line, api, parameter, code, message, severity, seen)
        # Python 3.9 and older know no `strict`.
        self.alarms.append(dict(zip(ALARM_FIELDS, values)))  # noqa: B905

    def here(self):
        """File and line of the user's code that is being run: the innermost frame below the script's folder."""
        folder = f"{self.script.parent}{os.sep}"
        frame = sys._getframe(1)
        while frame:
            path = frame.f_code.co_filename
            if path.startswith(folder) and not path.startswith(self.foreign_paths):
                return path[len(folder) :], frame.f_lineno
            frame = frame.f_back
        return None, None

    def fail(self, error):
        """Note that the monitor has failed, which is called no more then."""
        lines = traceback.format_exception(type(error), error, error.__traceback__, limit=-20)
        self.error = f"{type(error).__name__}: {error}"
        self.traceback = "".join(lines)

    def begin_loop(self):
        """Count an optimizer, the first of which starts the clock."""
        self.optimizers += 1
        self.started = self.started or time.perf_counter()

    def finish(self, since):
        """Stop the clock, which ran from the first optimizer on; without an optimizer, from `since`."""
        self.loop_s = time.perf_counter() - (self.started or since)

    def report(self):
        return {name: getattr(self, name) for name in REPORT_FIELDS}

    def is_empty(self):
        return not (self.alarms or self.notes or self.error or self.optimizers or self.steps)

    def write(self, path=None):
        """Write the report; a process that is killed meanwhile leaves none, rather than a part."""
        path = path or self.out
        unfinished = path.with_name(f"{path.name}.begun")
        unfinished.write_text(json.dumps(self.report(), indent=1), encoding="utf-8")
        unfinished.replace(path)

    def merge(self, reports):
        """Add the reports of processes that this one has started."""
        for report in reports:
            self._add(report)
            self.optimizers += report["optimizers"]

    def merge_ranks(self, reports):
        """Add the reports of other ranks, which have the same optimizers."""
        for report in reports:
            self._add(report)
            self.optimizers = max(self.optimizers, report["optimizers"])
            self.ranks += 1

    def _add(self, report):
        """Add the report of another process; an alarm that several of them raise is kept once."""
        self.alarms += [alarm for alarm in report["alarms"] if alarm not in self.alarms]
        self.dropped += report["dropped"] + max(0, len(self.alarms) - MAX_ALARMS)
        del self.alarms[MAX_ALARMS:]
        if self.steps < report["steps"]:
            # The training was in that process, not in this one.
            self.steps, self.loop_s = report["steps"], report["loop_s"]
        self.error = self.error or report["error"]
        self.traceback = self.traceback or report["traceback"]
