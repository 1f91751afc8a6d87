"""A scheduler that was made is used."""

import weakref

from sanitizer_invariants.base import Invariant

EPOCHS = 3
CONSTANT = ("ConstantLR", "LambdaLR", "MultiplicativeLR")


class UnusedSchedule(Invariant):
    """In a program that goes through its data three times and more, each scheduler makes a step.

    Why: who makes a schedule wants it. Without `step()` the learning rate stays at the beginning of it; that of a
    warm-up stays small for ever.

    Excepted: schedulers that are parts of others, or whose optimizer has another one that is used, or has stepped in
    less than three epochs of a DataLoader; those that may be constant.

    Cost: a look-up for each step of a schedule and each epoch; the schedulers are looked at when the program ends.
    """

    NAME = "unused-schedule"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.made, self.used, self.epochs = {}, weakref.WeakSet(), weakref.WeakKeyDictionary()
        self.stepped = set()

    def after_scheduler(self, scheduler):
        optimizer = getattr(scheduler, "optimizer", None)
        if optimizer is not None:
            self.made[id(scheduler)] = weakref.ref(scheduler), weakref.ref(optimizer), self.program.here()

    def after_schedule(self, scheduler):
        optimizer = getattr(scheduler, "optimizer", None)
        if optimizer is not None:
            self.used.add(optimizer)

    def after_load(self, loaded):
        """A program that goes on from a checkpoint may have its schedule behind it."""
        if getattr(loaded, "optimizer", None) is not None:
            self.used.add(loaded.optimizer)

    def before_epoch(self, loader):
        self.stepped.clear()

    def after_step(self, optimizer):
        if id(optimizer) not in self.stepped:
            self.stepped.add(id(optimizer))
            self.epochs[optimizer] = self.epochs.get(optimizer, 0) + 1

    def end(self):
        for reference, owner, where in self.made.values():
            scheduler, optimizer = reference(), owner()
            if scheduler is None or optimizer is None or optimizer in self.used:
                continue
            name, epochs = type(scheduler).__name__, self.epochs.get(optimizer, 0)
            if epochs >= EPOCHS and name not in CONSTANT:
                self.report(
                    f"{name} was made and never stepped, in {epochs} epochs: the learning rate stayed as it was",
                    api=f"torch.optim.lr_scheduler.{name}.step",
                    where=where,
                )
