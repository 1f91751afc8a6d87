"""A scheduler that was made is used."""

import weakref

import torch

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
        self.plans, self.of_optimizers, self.epoch = [], weakref.WeakKeyDictionary(), 0

    def after_scheduler(self, scheduler):
        optimizer = getattr(scheduler, "optimizer", None)
        if optimizer is not None and optimizer not in self.of_optimizers:
            self.of_optimizers[optimizer] = Plan(type(scheduler).__name__, self.program.here())
            self.plans.append(self.of_optimizers[optimizer])

    def after_schedule(self, scheduler):
        self._is_used(getattr(scheduler, "optimizer", None))

    def after_load(self, loaded):
        """A program that goes on from a checkpoint may have its schedule behind it."""
        self._is_used(getattr(loaded, "optimizer", None))

    def _is_used(self, optimizer):
        if isinstance(optimizer, torch.optim.Optimizer) and optimizer in self.of_optimizers:
            self.of_optimizers[optimizer].is_used = True

    def before_epoch(self, loader):
        self.epoch += 1

    def after_step(self, optimizer):
        plan = self.of_optimizers.get(optimizer)
        if plan is not None and plan.epoch != self.epoch:
            plan.epoch, plan.epochs = self.epoch, plan.epochs + 1

    def end(self):
        for plan in self.plans:
            if not plan.is_used and plan.epochs >= EPOCHS and plan.name not in CONSTANT:
                self.report(
                    f"{plan.name} was made and never stepped, in {plan.epochs} epochs: the learning rate stayed as it "
                    "was",
                    api=f"torch.optim.lr_scheduler.{plan.name}.step",
                    where=plan.where,
                )


class Plan:
    """The schedule of an optimizer, and in how many epochs that has stepped."""

    def __init__(self, name, where):
        self.name, self.where, self.is_used, self.epoch, self.epochs = name, where, False, None, 0
