"""Gradients of a step that has been taken are not in the next one."""

from sanitizer_invariants.tools.gradients import take_snapshots
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, find_name, list_parameters

# Steps after which numbers of the gradients are kept in any case.
FIRST = 5


class StaleGradients(Invariant):
    """Between two steps of an optimizer, each gradient that a backward pass adds to was cleared
    before the next step.

    Why: a step uses a gradient up. What is still there is added to the next one, so that the update
    is by the sum of all gradients so far, which no optimizer of torch is made for: momentum has a
    decay, accumulation comes before the step, and what steps by sums on purpose (dual averaging)
    keeps them in its own state.

    Excepted: gradients that a backward pass does not add to (unused parameters), those that are
    changed by hand between the step and the pass, in whatever way, and steps that follow each other
    without a backward pass. What is changed between the pass and the step is clipped, averaged or
    unscaled: only what is zero then was cleared.

    Cost: whether each gradient is the same tensor in the same version. A write past autograd
    (`.data`) counts for no version: at most 64 numbers of each gradient are compared as well, in
    the first steps and, once versions have said that nothing was written, in all others.
    """

    NAME = "stale-gradients"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.snapshots, self.added = IdentityTable(), IdentityTable()
        self.suspected = IdentitySet()

    def before_step(self, optimizer):
        """Sums that are cleared before the step do no harm,
        as those of a discriminator in the generator's turn.
        """
        added, where = self.added.pop(optimizer, ((), None))
        added = [snapshot() for snapshot in added if not snapshot.is_cleared()]
        if added and self.program.steps(optimizer):
            self._report(optimizer, added, where)

    def after_step(self, optimizer):
        samples = optimizer in self.suspected or self.program.steps(optimizer) < FIRST
        self.snapshots[optimizer] = take_snapshots(list_parameters(optimizer), samples)

    def before_backward(self, tensors):
        for optimizer, snapshots in list(self.snapshots.items()):
            if any(snapshot.has_its_version() for snapshot in snapshots):
                self.suspected.add(optimizer)
            self.snapshots[optimizer] = [
                snapshot for snapshot in snapshots if snapshot.is_as_it_was()
            ]
        for optimizer, (added, where) in list(self.added.items()):
            self.added[optimizer] = (
                [snapshot for snapshot in added if snapshot.is_as_it_was()],
                where,
            )

    def after_backward(self, tensors):
        for optimizer, (added, where) in list(self.added.items()):
            self.added[optimizer] = take_snapshots((snapshot() for snapshot in added), True), where
        for optimizer, snapshots in list(self.snapshots.items()):
            added = take_snapshots(
                (snapshot() for snapshot in snapshots if not snapshot.is_as_it_was()), True
            )
            if added:
                self.added[optimizer] = added, self.program.here()
                del self.snapshots[optimizer]

    def _report(self, optimizer, added, where):
        self.report(
            f"a backward pass adds to the gradients of the step before in {len(added)} of "
            f"{len(list_parameters(optimizer))} parameters: they were not cleared",
            api="torch.optim.Optimizer.zero_grad",
            parameter=find_name(self.program, added[0]),
            iteration=self.program.iteration_of(optimizer),
            where=where,
        )
