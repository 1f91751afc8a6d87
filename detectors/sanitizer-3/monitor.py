"""A sanitizer of trainings: watches invariants that correct programs hardly ever break, and knows of no particular one.

Each is a file of `sanitizer_invariants`. An alarm of severity `error` is about what is hardly ever meant; `info` is
advice.
The variable TRAINBUGS_SANITIZER may hold settings: {"ignore": ["name", ...], "light": true}; `light` leaves out what
costs more than a few comparisons a step.
"""

import json
import os
import traceback

from sanitizer_invariants import ALL

SETTINGS = json.loads(os.environ.get("TRAINBUGS_SANITIZER", "{}"))


class Report:
    """What one invariant has to say: the first time at each place, with the number of times in the end."""

    def __init__(self, name, severity, program, emit):
        self.name, self.severity, self.program, self.emit, self.said = name, severity, program, emit, set()

    def __call__(self, message, api=None, parameter=None, iteration=None, where=None, severity=None):
        where = where or self.program.here()
        if where in self.said:
            return
        self.said.add(where)
        severity = severity or self.severity
        self.emit(self.name, message, severity, api=api, parameter=parameter, iteration=iteration, where=where)


class Sanitizer:
    """Hands each moment to the invariants that look at it. One that fails is switched off, and said to have failed."""

    def __init__(self, program, emit):
        ignored, light = SETTINGS.get("ignore", ()), SETTINGS.get("light", False)
        chosen = [one for one in ALL if one.NAME not in ignored and (one.LIGHT or not light)]
        self.emit = emit
        self.watching = [self._begin(one, program) for one in chosen]
        self.told = {}

    def _begin(self, invariant, program):
        return invariant(program, Report(invariant.NAME, invariant.SEVERITY, program, self.emit))

    def __getattr__(self, moment):
        """The method for a moment; AttributeError where no invariant looks at it, so that it is not hooked."""
        if moment.startswith("_") or not any(hasattr(each, moment) for each in self.watching):
            raise AttributeError(moment)
        self.told[moment] = [each for each in self.watching if hasattr(each, moment)]

        def tell(*what):
            for each in self.told[moment]:
                try:
                    getattr(each, moment)(*what)
                except Exception:
                    self._switch_off(each)

        setattr(self, moment, tell)
        return tell

    def _switch_off(self, invariant):
        for moment, told in self.told.items():
            self.told[moment] = [each for each in told if each is not invariant]
        self.emit("failed", f"{invariant.NAME} is switched off: {traceback.format_exc(limit=-5)}", "info")


def watch(program, emit):
    return Sanitizer(program, emit)
