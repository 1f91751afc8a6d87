"""A scheduler that was made is used."""

import weakref

import torch

from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant

EPOCHS = 3
CONSTANT = ("ConstantLR", "LambdaLR", "MultiplicativeLR")


class UnusedSchedule(Invariant):
    """In a program that goes through its data three times and more, each scheduler makes a step.

    Why: who makes a schedule wants it. Without `step()` the learning rate stays at the beginning of
    it; that of a warm-up stays small for ever.

    Excepted: schedulers that are parts of others, or whose optimizer has another one that is used,
    or has stepped in less than three epochs, of which a DataLoader has given half; those that may
    be constant, or have a `step` of their own; learning rates that have changed nevertheless. Not
    excepted is a schedule that is to begin later than the program ends (`if epoch >= 10` in a short
    run): nothing tells it from one that was forgotten.

    Cost: a look-up for each step and each batch, of the learning rates once an epoch; the
    schedulers are looked at when the program ends.
    """

    NAME = "unused-schedule"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.plans, self.of_optimizers = [], IdentityTable()
        # The batches that loaders have given in the present epoch, of which each has a number; the
        # loader of the last.
        self.batches, self.epochs, self.count, self.loader = (
            *(IdentityTable() for _ in range(2)),
            0,
            None,
        )

    def after_scheduler(self, scheduler):
        optimizer = getattr(scheduler, "optimizer", None)
        if optimizer is not None and optimizer not in self.of_optimizers:
            plan = self.of_optimizers[optimizer] = Plan(
                type(scheduler).__name__, self.program.here(), optimizer
            )
            self.plans.append(plan)
        if optimizer is not None and has_own_step(scheduler):
            self._is_used(optimizer)

    def after_schedule(self, scheduler):
        self._is_used(getattr(scheduler, "optimizer", None))

    def after_load(self, loaded):
        """A program that goes on from a checkpoint may have its schedule behind it."""
        self._is_used(getattr(loaded, "optimizer", None))

    def _is_used(self, optimizer):
        if isinstance(optimizer, torch.optim.Optimizer) and optimizer in self.of_optimizers:
            self.of_optimizers[optimizer].is_used = True

    def before_epoch(self, loader):
        self.batches[loader] = 0

    def after_batch(self, loader, batch):
        if loader is None:
            return
        self.loader, count = weakref.ref(loader), self.batches.get(loader, 0) + 1
        self.batches[loader] = count
        if count == half(loader):
            self.count += 1
            self.epochs[loader] = self.count

    def after_step(self, optimizer):
        plan, loader = self.of_optimizers.get(optimizer), self.loader and self.loader()
        epoch = self.epochs.get(loader) if plan is not None and loader is not None else None
        if epoch is not None and plan.epoch != epoch:
            plan.epoch, plan.epochs = epoch, plan.epochs + 1
            plan.look()

    def end(self):
        for plan in self.plans:
            plan.look()
            if not plan.is_used and plan.epochs >= EPOCHS and plan.name not in CONSTANT:
                self.report(
                    f"{plan.name} was made and never stepped, in {plan.epochs} epochs: the "
                    "learning rate stayed as it was",
                    api=f"torch.optim.lr_scheduler.{plan.name}.step",
                    where=plan.where,
                )


class Plan:
    """The schedule of an optimizer, and in how many epochs that has stepped."""

    def __init__(self, name, where, optimizer):
        self.name, self.where, self.is_used, self.epoch, self.epochs = name, where, False, None, 0
        self.optimizer, self.rates = weakref.ref(optimizer), None

    def look(self):
        """Whether the learning rates have changed since the first look."""
        optimizer = self.optimizer()
        if optimizer is None or self.is_used:
            return
        rates = [float(group["lr"]) for group in optimizer.param_groups if "lr" in group]
        self.rates = rates if self.rates is None else self.rates
        # Of groups that were added later nothing is said.
        self.is_used = any(pair != another for pair, another in zip(rates, self.rates))  # noqa: B905


def has_own_step(scheduler):
    """Whether a class that is not torch's says what a step is: it need not be seen."""
    owner = next((base for base in type(scheduler).__mro__ if "step" in vars(base)), None)
    return owner is None or not owner.__module__.startswith("torch.")


def half(loader):
    """How many batches of a loader are half of them; of a stream, two."""
    try:
        return max(1, (len(loader) + 1) // 2)
    except Exception:
        return 2
