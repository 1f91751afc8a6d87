"""Checkpointing changes no gradient."""

import functools
import weakref

import torch
from torch.utils import checkpoint as recomputing

from sanitizer_invariants import twins
from sanitizer_invariants.base import Invariant, sampled

NAME = "_checkpoint_without_reentrant_generator"
# The same kernels are called with the same numbers: what differs by more than this is no rounding.
TOLERANCE = 1e-3


class TransparentCheckpoint(Invariant):
    """A module that calls `torch.utils.checkpoint` has the gradients that it has without it.

    Why: what is computed again in the backward pass is what was thrown away, by the same random numbers. Memory is
    saved, and nothing else changes.

    Copies of the module go through a backward pass from a sum of their outputs, all from the same random state: twice
    without checkpoints, and once with them.

    Excepted: modules that cannot be copied, or whose gradients differ between the two passes without checkpoints;
    `preserve_rng_state=False`, which gives the random numbers up; reentrant checkpoints, whose limits are documented;
    torch 2.0, where checkpoints cannot be left out.

    Cost: a deep copy at a module's first call, and where it makes checkpoints three passes of copies after the first
    five calls and then after each 200th.
    """

    NAME, LIGHT = "transparent-checkpoint", False

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.without = weakref.WeakKeyDictionary(), weakref.WeakSet()
        self.made, self.before, self.twin = 0, 0, None
        if hasattr(recomputing, NAME):
            self._count(getattr(recomputing, NAME))

    def _count(self, bare):
        def generate(*arguments, **options):
            self.made += 1
            return bare(*arguments, **options)

        setattr(recomputing, NAME, functools.wraps(bare)(generate))

    def before_forward(self, module, arguments, options):
        self.twin = None
        module = twins.bare(module)
        if not torch.is_grad_enabled() or not module.training or module in self.without:
            return
        self.calls[module] = self.calls.get(module, 0) + 1
        if sampled(self.calls[module], 200):
            self.before, self.twin = self.made, twins.copied(module, arguments, options)

    def after_forward(self, module, arguments, options, output):
        twin, self.twin = self.twin, None
        if twin is None:
            return
        copies = [twin, twins.copied(*twin), twins.copied(*twin)] if self.made > self.before else [None]
        gradients = None if None in copies else twins.attempted(self.program, passes, copies)
        if gradients is None:
            self.without.add(twins.bare(module))
        elif any(differ(*each) for each in zip(*gradients)):  # noqa: B905
            self.report(
                "with checkpoints the gradients are others than without them", api="torch.utils.checkpoint.checkpoint"
            )


def passes(copies):
    """The gradients without checkpoints and with them; None where there are none, or where they do not repeat."""
    states = torch.get_rng_state(), torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    with Left() as left:
        once = gradients(states, *copies[0])
        if not left.made or not twins.identical(once, gradients(states, *copies[1])):
            return None
    return once, gradients(states, *copies[2])


def gradients(states, module, arguments, options):
    """The gradients of parameters and inputs after a backward pass."""
    torch.set_rng_state(states[0])
    torch.cuda.set_rng_state_all(states[1])
    outputs = [each for each in twins.leaves(module(*arguments, **options)) if each.requires_grad]
    given = [*module.parameters(), *twins.leaves((arguments, options))]
    given = [each for each in given if each.requires_grad]
    # Not all outputs count the same: a normalised one has a constant sum.
    cotangents = [torch.linspace(1, 2, each.numel()).reshape(each.shape).to(each) for each in outputs]
    found = torch.autograd.grad(outputs, given, cotangents, allow_unused=True)
    return [each for each in found if each is not None]


def differ(without, checkpointed):
    finite = torch.isfinite(without)
    return bool((finite & ~torch.isfinite(checkpointed)).any()) or twins.difference(without, checkpointed) > TOLERANCE


class Left:
    """Leaves checkpoints out: what they are asked to compute is kept."""

    def __enter__(self):
        self.bare, self.made = getattr(recomputing, NAME), 0
        setattr(recomputing, NAME, self.generate)
        return self

    def generate(self, function, preserve_rng_state=True, *arguments, **options):
        if not preserve_rng_state:
            raise ValueError("random numbers are given up")
        self.made += 1
        yield

    def __exit__(self, *error):
        setattr(recomputing, NAME, self.bare)
