"""What a metric has seen before it was reset is over."""

from sanitizer_invariants.tools.metrics import (
    MetricRule,
    describe_api,
    describe_first,
    list_differences,
)


class MetricReset(MetricRule):
    """After `reset()` a metric gives what it gives when nothing came before.

    Why: an epoch is reset from the next one by it. What `reset` leaves behind, a count or the
    states of a metric inside, is mixed into all later values.

    Of objects with `update`, `compute` and `reset` that the program resets. A copy from before the
    first update gets one update of the program, a reset and another update; a second copy gets the
    reset and the other update. They differ by more than 1e-4.

    Excepted: metrics that draw random numbers or measure time, hold a network, or whose code names
    something of the program that can change (they are not tried); updates that fail without the
    one before. Advice, where some of several values are the same: the others may be meant to stay,
    as the best value so far.

    Cost: a copy of each metric, and of two of its updates; of a class at most four times three
    short evaluations.
    """

    NAME = "metric-reset"

    def before_reset(self, metric, updates):
        if len(updates.calls) < 2 or updates.is_tried:
            return
        updates.is_tried = True
        self.begin_trial(metric)
        before, update = updates.calls
        clean, again = (self.evaluate(updates.copy, "reset", update) for _ in range(2))
        if clean is None or any(list_differences(clean, again)):
            return
        now = self.evaluate(updates.copy, before, "reset", update)
        differences = list_differences(now, clean)
        if any(differences):
            self.report(
                f"{type(metric).__name__} gives {describe_first(now)} after an update, `reset()` "
                f"and another update, and {describe_first(clean)} after the last one alone: it "
                "still counts what was before the reset",
                api=describe_api(metric, "reset"),
                severity="error" if all(differences) else "info",
            )
