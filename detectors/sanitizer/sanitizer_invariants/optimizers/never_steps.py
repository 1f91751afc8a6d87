"""An optimizer that is given gradients makes a step."""

import weakref

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, checksum_of, list_parameters
from sanitizer_invariants.tools.modes import has_parameter_of

# As many rounds of gradients that were thrown away; so many are looked at; then the parameters
# after each so many more.
ROUNDS, LOOKED_AT, AGAIN = 20, 200, 100
COMPARED = 16


class NeverSteps(Invariant):
    """An optimizer whose gradients are computed and cleared in 20 rounds makes a step before the
    program ends.

    Why: `zero_grad()` of an optimizer is called for its next step. Where that is forgotten, or
    another optimizer steps in its place, everything is computed, and nothing is learnt.

    A round ends when gradients of it, finite and not all zero, are cleared. Said at the end, as a
    program may begin to step late.

    Excepted: optimizers of which a parameter is stepped by another one, or changes by other means
    (an update by hand, a state from elsewhere); modules in evaluation mode, whose gradients are
    looked at (attacks, saliency); steps that a GradScaler skips. A program that only measures how
    long passes take, and makes an optimizer, is accused.

    Cost: until the first step of an optimizer a look at its gradients for each clearing, 200 times
    at most; the sums of 16 parameters at the first, the 20th and each 100th round.
    """

    NAME = "never-steps"
    VERSION = 3

    def __init__(self, program, report):
        super().__init__(program, report)
        # The rounds outlive their optimizers: at the end there are none any more.
        self.of_optimizers, self.rounds, self.stepped = (
            IdentityTable(),
            [],
            IdentitySet(),
        )

    def before_zero_grad(self, optimizer):
        if optimizer in self.stepped:
            return
        rounds = self.of_optimizers.get(optimizer)
        if rounds is None:
            rounds = self.of_optimizers[optimizer] = Rounds(optimizer)
            self.rounds.append(rounds)
            if any(rounds.shares(stepped) for stepped in self.stepped):
                self._leave(rounds)
                return
        rounds.looked_at += 1
        if rounds.count < ROUNDS and rounds.looked_at <= LOOKED_AT:
            if has_gradients(optimizer) and not self._evaluates(optimizer):
                rounds.add(optimizer, self.program)
        elif rounds.count >= ROUNDS and rounds.looked_at % AGAIN == 0:
            rounds.compare()

    def _evaluates(self, optimizer):
        modules = [copies.unwrap(module) for module in self.program.modules()]
        return any(
            not module.training and has_parameter_of(optimizer, module) for module in modules
        )

    def before_step(self, optimizer):
        if optimizer in self.stepped:
            return
        self.stepped.add(optimizer)
        for rounds in list(self.rounds):
            if rounds.shares(optimizer):
                self._leave(rounds)

    def before_scaled_step(self, scaler, optimizer):
        """It may be skipped."""
        self.before_step(optimizer)

    def _leave(self, rounds):
        self.rounds.remove(rounds)
        if rounds.optimizer() is not None:
            self.stepped.add(rounds.optimizer())

    def end(self):
        for rounds in self.rounds:
            if rounds.count >= ROUNDS and not rounds.changes:
                self.report(
                    f"{rounds.name} never makes a step: its gradients were computed and cleared, "
                    f"{rounds.count} times and more",
                    api="torch.optim.Optimizer.step",
                    iteration=rounds.iteration,
                    where=rounds.where,
                )


class Rounds:
    """How many rounds of gradients of an optimizer were thrown away,
    and sums of its parameters at the first.
    """

    def __init__(self, optimizer):
        self.optimizer, self.name = weakref.ref(optimizer), type(optimizer).__name__
        self.looked_at, self.count, self.changes, self.sums = 0, 0, False, []
        self.iteration = self.where = None

    def add(self, optimizer, program):
        self.count += 1
        if self.count == 1:
            of = [
                parameter for parameter in list_parameters(optimizer) if parameter.grad is not None
            ]
            compared = of[:: max(1, len(of) // COMPARED)]
            self.sums = [(weakref.ref(member), checksum_of(member)) for member in compared]
            self.iteration, self.where = program.iteration_of(optimizer), program.here()
        elif self.count == ROUNDS:
            self.compare()

    def compare(self):
        self.changes = self.changes or any(
            reference() is None or checksum_of(reference()) != before
            for reference, before in self.sums
        )

    def shares(self, other):
        """Whether another optimizer has one of the parameters."""
        optimizer = self.optimizer()
        ids = (
            set()
            if optimizer is None
            else {id(parameter) for parameter in list_parameters(optimizer)}
        )
        return any(id(parameter) in ids for parameter in list_parameters(other))


def has_gradients(optimizer):
    """Whether some gradient is not all zero, and finite."""
    with torch.no_grad():
        for parameter in list_parameters(optimizer):
            gradient = parameter.grad
            if gradient is not None and gradient.layout == torch.strided and not gradient.is_meta:
                size = gradient.abs().sum(dtype=torch.float32).item()
                if size > 0:
                    return size < float("inf")
    return False
