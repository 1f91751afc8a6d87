"""How often schedulers and their optimizers step, and how long a schedule is by its own words."""

import torch

from sanitizer_invariants.tools.copies import is_distributed
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant

STEPS = 20


class Course:
    """How often a scheduler and its optimizer have stepped, and where it was made.

    `rate` is how often the scheduler steps between two steps of the optimizer, `passes` how many
    backward passes there are; 0 where that is not always the same.
    """

    def __init__(self, scheduler, where):
        self.where = where
        self.name, self.length = type(scheduler).__name__, find_length(scheduler)
        self.schedule_steps, self.steps, self.rate, self.passes = 0, 0, None, None
        self.pending, self.pending_passes = 0, 0

    def end_step(self):
        """Note that the optimizer steps."""
        if self.steps:
            self.rate = self.pending if self.rate in (None, self.pending) else 0
        self.passes = self.pending_passes if self.passes in (None, self.pending_passes) else 0
        self.steps += 1
        self.pending = self.pending_passes = 0


class PaceRule(Invariant):
    """A statement about schedules at the end of a program; `judge(course)` says it of one.

    It is asked of schedules of torch that have a length, are no part of another one and the only
    one of their optimizer, whose pace has been the same since the beginning, for 20 steps at least.
    """

    def __init__(self, program, report):
        super().__init__(program, report)
        # The courses of all schedulers by optimizer, also of what is gone; and of the living ones.
        self.courses = []
        self.by_optimizer, self.by_scheduler = (IdentityTable() for _ in range(2))

    def after_scheduler(self, scheduler):
        optimizer = getattr(scheduler, "optimizer", None)
        if not isinstance(optimizer, torch.optim.Optimizer):
            return
        if optimizer not in self.by_optimizer:
            self.by_optimizer[optimizer] = []
            self.courses.append(self.by_optimizer[optimizer])
        course = self.by_scheduler[scheduler] = Course(scheduler, self.program.here())
        self.by_optimizer[optimizer].append(course)

    def after_schedule(self, scheduler):
        course = self.by_scheduler.get(scheduler)
        if course is not None:
            course.schedule_steps += 1
            course.pending += 1

    def after_load(self, loaded):
        # Who goes on from a checkpoint has another beginning.
        if not isinstance(loaded, torch.nn.Module):
            self.courses.clear()

    def before_backward(self, tensors):
        for courses in list(self.by_optimizer.values()):
            for course in courses:
                course.pending_passes += 1

    def before_step(self, optimizer):
        for course in self.by_optimizer.get(optimizer, ()):
            course.end_step()

    def end(self):
        if is_distributed():
            return
        for courses in self.courses:
            used = [course for course in courses if course.schedule_steps]
            if len(used) == 1 and used[0].steps >= STEPS and used[0].length:
                self.judge(used[0])


def find_length(scheduler):
    """After how many steps a schedule is at its end, by its own words; None where it has no end."""
    if type(scheduler).__name__ == "SequentialLR":
        last = find_length(scheduler._schedulers[-1])
        return last and last + scheduler._milestones[-1]
    for name in ("T_max", "total_steps", "total_iters"):
        length = getattr(scheduler, name, None)
        if isinstance(length, int) and length > 0:
            return length
    return None


def is_near(number, other):
    """Whether two numbers of steps are the same, but for a few at the end of each epoch."""
    return abs(number - other) <= max(2, 0.05 * other)
