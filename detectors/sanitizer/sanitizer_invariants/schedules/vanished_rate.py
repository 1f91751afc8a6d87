"""A schedule ends when training does."""

import statistics
import weakref
from typing import NamedTuple

import torch

from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant

STEPS, NOTHING = 100, 1e-9
# How many times a metric was given, losses at each end of the training, and by how many standard
# errors the last ones have fallen.
CALLS, LOSSES, ERRORS = 10, 20, 2


class VanishedRate(Invariant):
    """No schedule lets the learning rate fall to a 1e-9th of what it was, or to 0,
    for a hundred steps in a row; none by a metric falls to its floor while the training gets on.

    Why: such steps change nothing. A schedule that was made for epochs and is stepped for each
    batch, or for fewer steps than are taken, ends long before the training. `ReduceLROnPlateau`
    comes to its floor where nothing gets better: where the losses fell, and the very first value of
    the metric remained the best, `mode` is the wrong one for the metric (an accuracy and "min").

    Excepted: optimizers without a scheduler, one of whose groups still learns, or whose rate rises
    again; a warm-up from 0; learning rates in tensors, which a look would have to wait for. Of
    `ReduceLROnPlateau` it is advice where the metric got better first, the losses did not fall, or
    there are several optimizers; and nothing is said of a floor that the program has set and a
    metric that got better.

    Said when the program ends: only then it is known that the rate has not risen again.

    Cost: a comparison of numbers at each step, and a reference to the loss of each backward pass.
    """

    NAME = "vanished-rate"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.peaks, self.counts = IdentityTable(), IdentityTable()
        self.scheduled, self.vanished = IdentityTable(), {}
        self.since, self.plateaus = IdentityTable(), IdentityTable()
        self.first, self.last = [], []

    def after_scheduler(self, scheduler):
        optimizer = getattr(scheduler, "optimizer", None)
        if optimizer is None:
            return
        self.scheduled[optimizer] = type(scheduler).__name__
        if isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau):
            self.plateaus[optimizer] = Plateau(scheduler)

    def after_schedule(self, scheduler):
        plateau = self.plateaus.get(getattr(scheduler, "optimizer", None))
        if plateau is not None and plateau.scheduler() is scheduler:
            plateau.note(scheduler)

    def before_backward(self, tensors):
        is_number = isinstance(tensors, torch.Tensor) and tensors.numel() == 1
        if self.plateaus and is_number:
            # No copy: nobody writes to a loss.
            self.last.append(tensors.detach())
            if len(self.first) < LOSSES:
                self.first.append(self.last[-1])
            del self.last[:-LOSSES]

    def before_step(self, optimizer):
        rates = [group.get("lr") for group in optimizer.param_groups]
        if (
            optimizer not in self.scheduled
            or not rates
            or any(isinstance(current, torch.Tensor) for current in rates)
        ):
            return
        rate = max(rates)
        peak = self.peaks[optimizer] = max(rate, self.peaks.get(optimizer, 0.0))
        is_nothing = peak > 0 and (rate < NOTHING * peak or self._is_at_floor(optimizer, rate))
        count = self.counts[optimizer] = self.counts.get(optimizer, 0) + 1 if is_nothing else 0
        if count == STEPS:
            first = self.program.iteration_of(optimizer) - STEPS + 1
            fall = Fall(
                self.scheduled[optimizer],
                self.plateaus.get(optimizer),
                peak,
                rate,
                first,
                self.program.here(),
            )
            self.vanished[id(optimizer), first] = fall
            self.since[optimizer] = id(optimizer), first
        elif count == 0 and optimizer in self.since:
            del self.vanished[self.since.pop(optimizer)]

    def _is_at_floor(self, optimizer, rate):
        plateau = self.plateaus.get(optimizer)
        return plateau is not None and plateau.falls > 0 and rate <= plateau.floor

    def end(self):
        for fall in self.vanished.values():
            severity = self._judge(fall)
            if severity is not None:
                self._report(fall, severity)

    def _judge(self, fall):
        """How severe it is that a rate has vanished; None where it may be meant."""
        plateau = fall.plateau
        if plateau is None or fall.rate < NOTHING * fall.peak:
            return "error"
        is_opposed = plateau.calls >= CALLS and not plateau.has_improved
        if is_opposed and self._has_fallen() and len(self.program.optimizers()) < 2:
            return "error"
        return None if plateau.is_chosen else "info"

    def _has_fallen(self):
        """Whether the last losses are lower than the first ones."""
        if len(self.first) < LOSSES:
            return False
        first, last = [list(map(float, losses)) for losses in (self.first, self.last)]
        error = ((statistics.variance(first) + statistics.variance(last)) / LOSSES) ** 0.5
        return statistics.mean(first) - statistics.mean(last) > ERRORS * error

    def _report(self, fall, severity):
        plateau = fall.plateau
        reason = f"{fall.name} has come to its end long before the training"
        if plateau is not None and not plateau.has_improved:
            reason = (
                f"of {plateau.calls} values that {fall.name} was given the first one is the best "
                f'by its mode "{plateau.mode}"'
            )
        self.report(
            f"the learning rate was {fall.peak:.3g}, and has been {fall.rate:.3g} for {STEPS} "
            f"steps: {reason}",
            api=f"torch.optim.lr_scheduler.{fall.name}",
            iteration=fall.first,
            where=fall.where,
            severity=severity,
        )


class Fall(NamedTuple):
    """A learning rate that has vanished: by which schedule, from where, and since when."""

    name: str
    plateau: object
    peak: float
    rate: float
    first: int
    where: tuple


class Plateau:
    """What is known of a schedule by a metric."""

    def __init__(self, scheduler):
        self.scheduler, self.mode = weakref.ref(scheduler), scheduler.mode
        self.calls = self.falls = 0
        self.best, self.has_improved = None, False
        self.rate = find_rate(scheduler)
        least = max(scheduler.min_lrs)
        # A rate that would fall by less than `eps` stays.
        smallest = scheduler.eps / (1 - scheduler.factor)
        # What was multiplied has its roundings.
        self.floor, self.is_chosen = 1.001 * max(least, smallest), least >= smallest

    def note(self, scheduler):
        self.calls += 1
        best, rate = scheduler.best, find_rate(scheduler)
        self.has_improved = self.has_improved or (self.best is not None and best != self.best)
        self.falls += rate < self.rate
        self.best, self.rate = best, rate


def find_rate(scheduler):
    """The highest learning rate of its optimizer."""
    return max(float(group["lr"]) for group in scheduler.optimizer.param_groups)
