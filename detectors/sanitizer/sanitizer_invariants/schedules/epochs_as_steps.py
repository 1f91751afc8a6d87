"""A schedule that is counted in epochs steps with them."""

import weakref

from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.pace import PaceRule

TIMES, DEFAULT, COSINE = 3, 5, "CosineAnnealingLR"


class EpochsAsSteps(PaceRule):
    """A schedule whose length is the number of epochs does not step with each batch.

    Why: `CosineAnnealingLR(optimizer, T_max=epochs)` is at its end after as many steps as there are
    epochs. Stepped with each batch it has ended in the first epochs, and then goes up and down
    again, or stays at the end.

    Said when the program ends, of schedules with a length (`T_max`, `total_steps`, `total_iters`)
    that is how often a loader was gone through in training, three times at least; that step once
    with each step of the optimizer, and have stepped three times as often as they are long.

    Excepted: optimizers with several schedulers; what goes on from a checkpoint; several processes;
    a length that another number of the program gives by accident.

    Cost: a count for each step of an optimizer or a scheduler, and for each epoch.
    """

    NAME = "epochs-as-steps"
    VERSION = 7

    def __init__(self, program, report):
        super().__init__(program, report)
        # How often each loader was begun, and of those that were trained with the largest number.
        self.begun, self.current, self.epochs = IdentityTable(), None, {}

    def before_epoch(self, loader):
        self.begun[loader] = self.begun.get(loader, 0) + 1

    def after_batch(self, loader, batch):
        self.current = None if loader is None else weakref.ref(loader)

    def before_step(self, optimizer):
        super().before_step(optimizer)
        loader = self.current and self.current()
        if loader is not None:
            self.epochs[id(loader)] = self.begun.get(loader, 0)

    def judge(self, course):
        is_in_epochs = course.length in self.epochs.values() and course.length >= TIMES
        # Five is what torch takes where nothing is said, for a warm-up as well.
        is_in_epochs = is_in_epochs and (course.length != DEFAULT or course.name == COSINE)
        if is_in_epochs and course.rate == 1 and course.schedule_steps >= TIMES * course.length:
            self.report(
                f"{course.name} is made for {course.length} steps, as many as there are epochs, "
                f"and has made {course.schedule_steps}, one for each step of the optimizer",
                api=f"torch.optim.lr_scheduler.{course.name}",
                where=course.where,
            )
