"""The learning rate is that of the schedule."""

import copy
import sys
import weakref
from bisect import bisect_right
from typing import NamedTuple

import torch

from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant

MODULE = "torch.optim.lr_scheduler"
PROGRESS = (
    "last_epoch",
    "_step_count",
    "_last_lr",
    "_get_lr_called_within_step",
    "_is_initial",
    "verbose",
)


class ScheduleRecord(NamedTuple):
    """How a scheduler left the learning rates when it was made,
    and those that its optimizer had been loaded with.
    """

    rates: list
    where: tuple
    loaded: list | None


class Schedule(Invariant):
    """The learning rate of a step is that of the only schedule of its optimizer,
    and that of the checkpoint.

    Why: (a) an optimizer and a scheduler are loaded with the same learning rate; the scheduler was
    made in between, as it does it set the rate of its first step, and nobody set it since. A step
    with that rate goes back to the beginning of the schedule. (b) torch computes most schedules
    from one step to the next; where the class has a closed form too, both say the same
    (SequentialLR: of the one of its schedulers whose turn it is by its milestones).

    Excepted: a schedule that begins at the present rate, which an earlier one has left: its closed
    form begins at the very first (`initial_lr`). Learning rates, counters or constants that were
    changed by hand, or by loading, since the last step of the schedule; several schedulers of one
    optimizer that are not parts of one; classes without a closed form or of the user; in (a)
    whatever is loaded by halves (a new schedule for a loaded optimizer may be meant, and so may a
    new learning rate for a loaded schedule).

    Tolerance: 1e-6 of the base learning rate. Rounding in double precision grows to 1e-16 times the
    number of steps; a learning rate in a tensor is of single precision: 1e-4.

    Cost: a few numbers at each step of the schedule, and at the first one of the optimizer.
    """

    NAME = "schedule"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.records, self.observed, self.loaded = (IdentityTable() for _ in range(3))
        self.resumed, self.starts = IdentityTable(), IdentitySet()

    def after_scheduler(self, scheduler):
        optimizer = getattr(scheduler, "optimizer", None)
        if optimizer is None or not _is_of_torch(scheduler):
            return
        self.records[scheduler] = ScheduleRecord(
            _rates(optimizer), self.program.here(), self.loaded.get(optimizer)
        )
        self.starts.discard(optimizer)
        if getattr(scheduler, "last_epoch", None) == 0 and _begins_as_its_closed_form(scheduler):
            self.observed[scheduler] = _observe(scheduler)

    def after_load(self, loaded):
        if isinstance(loaded, torch.optim.Optimizer):
            self.loaded[loaded] = _rates(loaded)
        elif loaded in self.records:
            self.resumed[loaded.optimizer] = weakref.ref(loaded)

    def before_step(self, optimizer):
        if optimizer in self.starts:
            return
        self.starts.add(optimizer)
        scheduler = self._only(optimizer)
        reference = self.resumed.pop(optimizer, None)
        if scheduler is None:
            return
        if reference is not None and reference() is scheduler:
            self._compare_with_checkpoint(optimizer, scheduler)
        elif scheduler in self.observed and self.observed[scheduler] == _observe(scheduler):
            self._compare(scheduler, self.records[scheduler].where)

    def before_schedule(self, scheduler):
        if scheduler in self.observed and self.observed[scheduler] != _observe(scheduler):
            del self.observed[scheduler]

    def after_schedule(self, scheduler):
        if scheduler not in self.observed:
            return
        self.observed[scheduler] = _observe(scheduler)
        if self._only(scheduler.optimizer) is scheduler:
            self._compare(scheduler, self.program.here())

    def _only(self, optimizer):
        """The one scheduler of an optimizer that is part of no other."""
        schedulers = [scheduler for scheduler in self.records if scheduler.optimizer is optimizer]
        parts = {
            id(part) for scheduler in schedulers for part in getattr(scheduler, "_schedulers", ())
        }
        whole = [scheduler for scheduler in schedulers if id(scheduler) not in parts]
        return whole[0] if len(whole) == 1 else None

    def _compare_with_checkpoint(self, optimizer, scheduler):
        record, rates = self.records[scheduler], _rates(optimizer)
        expected = [float(rate) for rate in getattr(scheduler, "_last_lr", ())]
        agreed = record.loaded is not None and _are_close(expected, record.loaded, expected, 1e-6)
        if agreed and rates == record.rates and not _are_close(rates, expected, expected, 1e-6):
            name = type(scheduler).__name__
            self.report(
                f"the checkpoint's learning rate {expected[0]:.6g} was overwritten with "
                f"{rates[0]:.6g} when {name} was made, after the optimizer had been loaded: the "
                "step is not that at which the checkpoint stopped",
                api=f"{MODULE}.{name}",
                iteration=self.program.iteration_of(optimizer),
                where=record.where,
            )

    def _compare(self, scheduler, where):
        if _agrees(scheduler):
            return
        expected, rates = _closed_form(scheduler), _rates(scheduler.optimizer)
        del self.observed[scheduler]
        name = type(scheduler).__name__
        self.report(
            f"the learning rate is {rates[0]:.6g}, the closed form of the schedule is "
            f"{expected[0]:.6g} at its step {scheduler.last_epoch}",
            api=f"{MODULE}.{name}",
            iteration=self.program.iteration_of(scheduler.optimizer),
            where=where,
        )


def _begins_as_its_closed_form(scheduler):
    """Whether the rate from which it was made is `initial_lr`; SequentialLR goes back to that."""
    return type(scheduler).__name__ == "SequentialLR" or _agrees(scheduler)


def _agrees(scheduler):
    """Whether the learning rates are those of the closed form, if there is one."""
    expected, rates = _closed_form(scheduler), _rates(scheduler.optimizer)
    tensors = any(
        isinstance(group["lr"], torch.Tensor) for group in scheduler.optimizer.param_groups
    )
    return expected is None or _are_close(
        rates, expected, scheduler_base(scheduler), 1e-4 if tensors else 1e-6
    )


def scheduler_base(scheduler):
    """The base learning rates; SequentialLR leaves them to its parts."""
    return next(iter(getattr(scheduler, "_schedulers", ())), scheduler).base_lrs


def _is_of_torch(scheduler):
    return type(scheduler) is getattr(sys.modules[MODULE], type(scheduler).__name__, None)


def _rates(optimizer):
    return [float(group["lr"]) for group in optimizer.param_groups]


def _observe(scheduler):
    """What changes by hand, if not by a step of the schedule."""
    parts = [scheduler, *getattr(scheduler, "_schedulers", ())]
    constants = [
        (name, repr(value))
        for part in parts
        for name, value in vars(part).items()
        if isinstance(value, (int, float, list, tuple, dict))
        and name not in PROGRESS
        and name != "_schedulers"
    ]
    return _rates(scheduler.optimizer), [part.last_epoch for part in parts], constants


def _closed_form(scheduler):
    """The learning rates by the closed form, or None where there is none."""
    step = scheduler.last_epoch
    if type(scheduler).__name__ == "SequentialLR":
        milestones = scheduler._milestones
        turn = bisect_right(milestones, step)
        step -= milestones[turn - 1] if turn else 0
        scheduler = scheduler._schedulers[turn]
    if not hasattr(scheduler, "_get_closed_form_lr") or not _is_of_torch(scheduler):
        return None
    twin = copy.copy(scheduler)
    twin.last_epoch = step
    try:
        return [float(rate) for rate in twin._get_closed_form_lr()]
    except ArithmeticError:
        return None


def _are_close(first, second, bases, share):
    """Of the groups that both know; there is one at least."""
    pairs = list(zip(first, second, bases))  # noqa: B905
    return all(abs(a - b) <= share * max(abs(b), abs(float(base))) for a, b, base in pairs)
