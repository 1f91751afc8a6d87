"""A schedule is for all groups of its optimizer."""

from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant

STEPS = 10


class UnscheduledGroup(Invariant):
    """(info) A group that joins an optimizer after its schedule was made follows the schedule.

    Why: schedules of torch keep a list of one rate for each group that there was when they were
    made. A group that is added later (a layer that is unfrozen) is left out in silence by most
    classes of most releases: it trains with the rate that it was given, to the end. That may be
    meant, so this is advice.

    An optimizer has more groups than its scheduler has base rates. In ten steps of the scheduler
    the rates of groups that it knows have changed, and no rate of another group has.

    Excepted: rates that the program changes by itself; several schedulers of one optimizer; rates
    of 0.

    Cost: two lengths at each step of a schedule; where they differ, the rates.
    """

    NAME, SEVERITY = "unscheduled-group", "info"
    VERSION = 8

    def __init__(self, program, report):
        super().__init__(program, report)
        self.schedulers, self.rates = IdentitySet(), IdentityTable()

    def after_scheduler(self, scheduler):
        self.schedulers.add(scheduler)

    def after_schedule(self, scheduler):
        optimizer = getattr(scheduler, "optimizer", None)
        bases = getattr(scheduler, "base_lrs", None)
        if optimizer is None or not isinstance(bases, list):
            return
        groups = optimizer.param_groups
        if len(groups) <= len(bases) or not self._is_only(scheduler):
            return
        rates = [float(group["lr"]) for group in groups]
        known = self.rates.setdefault(scheduler, [rates, 0])
        before, count = known
        if len(before) != len(rates):
            known[:] = rates, 0
            return
        others = len(bases)
        if before[others:] != rates[others:] or not all(rates[others:]):
            known[:] = rates, 0
        elif before[:others] != rates[:others]:
            known[:] = rates, count + 1
            if count + 1 == STEPS:
                self._tell(scheduler, len(rates) - others)

    def _is_only(self, scheduler):
        optimizer = scheduler.optimizer
        return not any(
            other is not scheduler and getattr(other, "optimizer", None) is optimizer
            for other in self.schedulers
        )

    def _tell(self, scheduler, count):
        kind = type(scheduler)
        self.report(
            f"{kind.__name__} changes the rates of the groups that it knows, and of {count} that "
            "joined the optimizer later it changes nothing",
            api=f"{kind.__module__}.{kind.__name__}",
        )
