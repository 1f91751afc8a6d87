"""A schedule goes on as long as the training."""

import weakref

import torch

from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant

EPOCHS, STEPS, LOW, HIGH, CYCLES = 3, 10, 0.01, 0.99, 3


class EarlySchedule(Invariant):
    """No schedule has run its course in the first epoch of four and more.

    Why: a schedule that was made for epochs (`MultiStepLR` with milestones 30 and 60,
    `CosineAnnealingLR` with 100) and steps with each batch is at its end in the first epoch. The
    rate is a hundredth of what it was from then on; that of a cosine goes up and down many times.

    Of optimizers with a scheduler of torch, that step with the batches of a DataLoader: the rate
    has been as high as it will be, and at the end of the first epoch, and in two more, it is a
    hundredth of that or less; or `CosineAnnealingLR` has fallen to a hundredth and risen again
    three times in the first epoch.

    Excepted: epochs of fewer than ten steps; schedules with restarts and cycles, which are other
    classes; learning rates in tensors.

    Cost: a few comparisons of numbers for each step of the first four epochs.
    """

    NAME = "early-schedule"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.epochs, self.current = IdentityTable(), None
        self.courses = IdentityTable()

    def after_scheduler(self, scheduler):
        optimizer = getattr(scheduler, "optimizer", None)
        if optimizer is not None:
            self.courses[optimizer] = Course(type(scheduler).__name__)

    def before_epoch(self, loader):
        self.epochs[loader] = self.epochs.get(loader, 0) + 1

    def after_batch(self, loader, batch):
        self.current = None if loader is None else weakref.ref(loader)

    def before_step(self, optimizer):
        course, loader = self.courses.get(optimizer), self.current and self.current()
        if course is None or loader is None or loader not in self.epochs:
            return
        rates = [group.get("lr") for group in optimizer.param_groups]
        if any(isinstance(rate, (torch.Tensor, type(None))) for rate in rates):
            del self.courses[optimizer]
            return
        epoch = self.epochs[loader]
        course.note(loader, epoch, max(rates))
        if epoch <= EPOCHS:
            return
        del self.courses[optimizer]
        reason = course.judge()
        if reason:
            self.report(
                f"{course.name} {reason} in the first of {epoch} epochs ({course.steps} steps): it "
                "is stepped for each batch, and was made for epochs",
                api=f"torch.optim.lr_scheduler.{course.name}",
            )


class Course:
    """The learning rate in the first epoch of a loader, and whether it was high in later ones."""

    def __init__(self, name):
        self.name, self.loader, self.steps, self.cycles = name, None, 0, 0
        self.peak, self.last, self.is_low, self.is_high_later = 0.0, 0.0, False, False

    def note(self, loader, epoch, rate):
        self.loader = self.loader or weakref.ref(loader)
        if self.loader() is not loader:
            return
        if epoch == 1:
            self._note_first(rate)
        elif rate > LOW * self.peak:
            self.is_high_later = True

    def _note_first(self, rate):
        self.steps += 1
        self.peak, self.last = max(self.peak, rate), rate
        if rate <= LOW * self.peak:
            self.is_low = True
        elif self.is_low and rate >= HIGH * self.peak:
            self.is_low, self.cycles = False, self.cycles + 1

    def judge(self):
        """What is wrong with it, or None."""
        if self.steps < STEPS:
            return None
        if self.name == "CosineAnnealingLR" and self.cycles >= CYCLES:
            return f"has gone down and up {self.cycles} times"
        has_ended = 0 < self.last <= LOW * self.peak or self.last == 0 < self.peak
        return "has come to its end" if has_ended and not self.is_high_later else None
