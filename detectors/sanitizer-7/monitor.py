"""A sanitizer of trainings: watches invariants that correct programs hardly ever break,
and knows of no particular one.

Each invariant is a file in a folder of `sanitizer_invariants`. An alarm of severity `error` is
about what is hardly ever meant; `info` is advice. The variable TRAINBUGS_SANITIZER may hold
settings: {"ignore": ["name", ...], "light": true}; `light` leaves out what costs more than a few
comparisons a step.
"""

import json
import os
import traceback

from sanitizer_invariants import ALL
from sanitizer_invariants.tools import hooks
from sanitizer_invariants.tools.copies import list_tensors
from sanitizer_invariants.tools.equality import has_own_equality

SETTINGS = json.loads(os.environ.get("TRAINBUGS_SANITIZER", "{}"))


class Report:
    """The reports of one invariant: the first one at each place of the program."""

    def __init__(self, name, severity, program, emit):
        self.name, self.severity = name, severity
        self.program, self.emit = program, emit
        self.places, self.is_closed = set(), False

    def __call__(
        self, message, api=None, parameter=None, iteration=None, where=None, severity=None
    ):
        where = where or self.program.here()
        if self.is_closed or where in self.places:
            return
        self.places.add(where)
        severity = severity or self.severity
        details = {"api": api, "parameter": parameter, "iteration": iteration, "where": where}
        self.emit(self.name, message, severity, **details)


class Moment:
    """The launcher's Program, which finds once for each moment what several invariants ask for:
    which line of the program runs, by a walk over frames, and what tensors a call was given.
    """

    def __init__(self, program):
        self.program, self.is_told = program, False
        self.place, self.given = None, None

    def __getattr__(self, name):
        # What is looked up once is found here from then on; what changes is no attribute.
        value = getattr(self.program, name)
        if callable(value):
            setattr(self, name, value)
        return value

    def begin(self):
        self.is_told, self.place, self.given = True, None, None

    def end(self):
        """What an invariant has hooked by itself may ask at any time: nothing is kept then."""
        self.is_told, self.place, self.given = False, None, None

    def here(self):
        if not self.is_told:
            return self.program.here()
        if self.place is None:
            self.place = self.program.here()
        return self.place

    def list_given(self, arguments, options):
        """The tensors in the arguments of a call that is being told."""
        if not self.is_told:
            return list_tensors((arguments, options))
        if self.given is None:
            self.given = list_tensors((arguments, options))
        return self.given


class Sanitizer:
    """Hands each moment to the invariants that look at it. One that fails is switched off,
    and reported. They are told nothing of modules with their own `==`.
    """

    def __init__(self, program, emit):
        self.emit, self.reports, self.moment = emit, [], Moment(program)
        self.invariants = [self._begin(invariant) for invariant in select_invariants()]
        self.listeners = {}

    def _begin(self, invariant):
        report = Report(invariant.NAME, invariant.SEVERITY, self.moment, self.emit)
        self.reports.append(report)
        return invariant(self.moment, report)

    def close(self):
        """Report nothing from now on: invariants may have hooks of their own, which stay."""
        for report in self.reports:
            report.is_closed = True

    def __getattr__(self, moment):
        """The method for a moment; AttributeError where no invariant looks at it,
        so that it is not hooked.
        """
        if moment.startswith("_"):
            raise AttributeError(moment)
        looking = [invariant for invariant in self.invariants if hasattr(invariant, moment)]
        listeners = [getattr(invariant, moment) for invariant in looking]
        if not listeners:
            raise AttributeError(moment)
        self.listeners[moment] = listeners

        def tell(*arguments):
            if arguments and has_own_equality(arguments[0]):
                return
            self.moment.begin()
            try:
                for method in self.listeners[moment]:
                    try:
                        method(*arguments)
                    except Exception:
                        self._switch_off(method.__self__)
            finally:
                self.moment.end()

        setattr(self, moment, tell)
        return tell

    def _switch_off(self, failed):
        for moment, listeners in self.listeners.items():
            self.listeners[moment] = [
                method for method in listeners if method.__self__ is not failed
            ]
        trace = traceback.format_exc(limit=-5)
        self.emit("failed", f"{failed.NAME} is switched off: {trace}", "info")


def select_invariants():
    """The invariants that the settings leave on, in their order."""
    ignored, is_light = SETTINGS.get("ignore", ()), SETTINGS.get("light", False)
    return [
        invariant
        for invariant in ALL
        if invariant.NAME not in ignored and (invariant.LIGHT or not is_light)
    ]


def watch(program, emit):
    sanitizer = Sanitizer(program, emit)
    hooks.install(sanitizer, program)
    return sanitizer
