"""Each step draws random numbers of its own."""

import ctypes

import torch

from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant

STEPS, KEPT = 3, 20_000


class RepeatedDraws(Invariant):
    """The random numbers of three steps in a row do not come again in other steps of the same
    optimizer.

    Why: dropout, noise and samples are drawn anew in each step, so that their mean over many steps
    is what is learnt. Where `manual_seed` is called inside of the loop, or by what is called in it
    (an evaluation that is to be the same each time), the numbers begin again, and the network
    learns these few.

    Seen at the state of the generator of the CPU before a step: an earlier step had the same, and
    it has changed since the seed was set, since the last batch and since the step before. An error
    where the three steps have one seed in common; advice where each has its own (a dataset that
    sets the seed by the index).

    Excepted: seeds that differ; what draws nothing, or only where a DataLoader is begun; blocks of
    `fork_rng`, whose numbers are not those of training; other optimizers, as those of the next
    training; generators of a GPU, of NumPy and of Python; LBFGS; states that were loaded in
    between.

    Cost: nothing before a seed is set between two steps; from then on a look at the state, of 5
    kilobytes, for each step and each batch.
    """

    NAME = "repeated-draws"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        # States from which nothing was drawn yet, and that before the last step.
        self.fresh, self.before, self.seed = set(), None, None
        self.seen, self.repeated = IdentityTable(), IdentityTable()

    @property
    def is_looking(self):
        return self.seed is not None

    def after_seed(self, seed):
        if self.program.completed:
            self.seed, self.fresh = int(seed), {read_state()}

    def after_generator(self, state):
        # What was drawn in between is forgotten, and nothing was drawn for the step.
        if self.is_looking and read_state() == self.before:
            self.fresh.add(self.before)

    def after_load(self, loaded):
        """What begins again from other weights may draw the same numbers again."""
        self.seen.clear()
        self.repeated.clear()

    def after_batch(self, loader, batch):
        if self.is_looking:
            self.fresh.add(read_state())

    def before_step(self, optimizer):
        # LBFGS calls its closure several times, and all calls are to draw the same.
        if not self.is_looking or isinstance(optimizer, torch.optim.LBFGS):
            return
        state, fresh = read_state(), self.fresh
        self.before, self.fresh = state, {state}
        if state in fresh:
            return
        seen = self.seen.setdefault(optimizer, set())
        seeds = self.repeated.setdefault(optimizer, [])
        if state in seen:
            seeds.append(self.seed)
        else:
            seeds.clear()
        if len(seen) < KEPT:
            seen.add(state)
        if len(seeds) == STEPS:
            self._report(optimizer, seeds)

    def _report(self, optimizer, seeds):
        self.report(
            f"the random numbers of {STEPS} steps in a row are those of earlier steps: "
            f"manual_seed({seeds[-1]}) is called again and again while training goes on",
            api="torch.manual_seed",
            iteration=self.program.iteration_of(optimizer),
            severity="error" if len(set(seeds)) == 1 else "info",
        )


def read_state():
    """A number for the state of torch's generator for the CPU."""
    state = torch.get_rng_state()
    return hash(ctypes.string_at(state.data_ptr(), state.numel()))
