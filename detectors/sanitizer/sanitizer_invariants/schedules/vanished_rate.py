"""A schedule ends when training does."""

import weakref

import torch

from sanitizer_invariants.tools.invariant import Invariant

STEPS, NOTHING = 100, 1e-9


class VanishedRate(Invariant):
    """No schedule lets the learning rate fall to a 1e-9th of what it was, or to 0,
    for a hundred steps in a row.

    Why: such steps change nothing. A schedule that was made for epochs and is stepped for each
    batch, or for fewer steps than are taken, ends long before the training.

    Excepted: optimizers without a scheduler, one of whose groups still learns, or whose rate rises
    again; a warm-up from 0; learning rates in tensors, which a look would have to wait for.

    Said when the program ends: only then it is known that the rate has not risen again.

    Cost: a comparison of numbers at each step.
    """

    NAME = "vanished-rate"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.peaks, self.counts = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()
        self.scheduled, self.vanished, self.since = (
            weakref.WeakKeyDictionary(),
            {},
            weakref.WeakKeyDictionary(),
        )

    def after_scheduler(self, scheduler):
        optimizer = getattr(scheduler, "optimizer", None)
        if optimizer is not None:
            self.scheduled[optimizer] = type(scheduler).__name__

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
        is_nothing = peak > 0 and rate < NOTHING * peak
        count = self.counts[optimizer] = self.counts.get(optimizer, 0) + 1 if is_nothing else 0
        if count == STEPS:
            first = self.program.iteration_of(optimizer) - STEPS + 1
            self.vanished[id(optimizer), first] = (
                self.scheduled[optimizer],
                peak,
                rate,
                first,
                self.program.here(),
            )
            self.since[optimizer] = id(optimizer), first
        elif count == 0 and optimizer in self.since:
            del self.vanished[self.since.pop(optimizer)]

    def end(self):
        for name, peak, rate, first, where in self.vanished.values():
            self.report(
                f"the learning rate was {peak:.3g}, and has been {rate:.3g} for {STEPS} steps: "
                f"{name} has come to its end long before the training",
                api=f"torch.optim.lr_scheduler.{name}",
                iteration=first,
                where=where,
            )
