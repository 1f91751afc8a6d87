"""Checkpointing changes no gradient."""

import functools

import torch
from torch.utils import checkpoint as recomputing

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, is_sampled

NAME = "_checkpoint_without_reentrant_generator"
# The same kernels are called with the same numbers: what differs by more than this is no rounding.
TOLERANCE = 1e-3


class TransparentCheckpoint(Invariant):
    """A module that calls `torch.utils.checkpoint` has the gradients that it has without it.

    Why: what is computed again in the backward pass is what was thrown away, by the same random
    numbers. Memory is saved, and nothing else changes.

    Copies of the module go through a backward pass from a sum of their outputs, all from the same
    random state: twice without checkpoints, and once with them.

    Excepted: modules that cannot be copied, or whose gradients differ between the two passes
    without checkpoints; `preserve_rng_state=False`, which gives the random numbers up; reentrant
    checkpoints, whose limits are documented; torch 2.0, where checkpoints cannot be left out.

    Cost: a deep copy at a module's first call, and where it makes checkpoints three passes of
    copies after the first five calls and then after each 200th.
    """

    NAME, LIGHT = "transparent-checkpoint", False
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.without = IdentityTable(), IdentitySet()
        self.created, self.before, self.twin = 0, 0, None
        if hasattr(recomputing, NAME):
            self._count(getattr(recomputing, NAME))

    def _count(self, bare):
        def generate(*arguments, **options):
            self.created += 1
            return bare(*arguments, **options)

        setattr(recomputing, NAME, functools.wraps(bare)(generate))

    def before_forward(self, module, arguments, options):
        self.twin = None
        module = copies.unwrap(module)
        if not torch.is_grad_enabled() or not module.training or module in self.without:
            return
        self.calls[module] = self.calls.get(module, 0) + 1
        if is_sampled(self.calls[module], 200):
            self.before, self.twin = self.created, copies.duplicate_all(module, arguments, options)

    def after_forward(self, module, arguments, options, output):
        twin, self.twin = self.twin, None
        if twin is None:
            return
        duplicates = (
            [twin, copies.duplicate_all(*twin), copies.duplicate_all(*twin)]
            if self.created > self.before
            else [None]
        )
        compute_gradients = (
            None if None in duplicates else copies.attempt(self.program, run_passes, duplicates)
        )
        if compute_gradients is None:
            self.without.add(copies.unwrap(module))
        elif any(differ(*tensor) for tensor in zip(*compute_gradients)):  # noqa: B905
            self.report(
                "with checkpoints the gradients are others than without them",
                api="torch.utils.checkpoint.checkpoint",
            )


def run_passes(duplicates):
    """The gradients without checkpoints and with them; None where there are none,
    or where they do not repeat.
    """
    states = (
        torch.get_rng_state(),
        torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else [],
    )
    with SavedTensors() as residue:
        once = compute_gradients(states, *duplicates[0])
        if not residue.created or not copies.are_identical(
            once, compute_gradients(states, *duplicates[1])
        ):
            return None
    return once, compute_gradients(states, *duplicates[2])


def compute_gradients(states, module, arguments, options):
    """The gradients of parameters and inputs after a backward pass."""
    torch.set_rng_state(states[0])
    torch.cuda.set_rng_state_all(states[1])
    outputs = [
        tensor
        for tensor in copies.list_tensors(module(*arguments, **options))
        if tensor.requires_grad
    ]
    inputs = [*module.parameters(), *copies.list_tensors((arguments, options))]
    inputs = [value for value in inputs if value.requires_grad]
    # Not all outputs count the same: a normalised one has a constant sum.
    cotangents = [
        torch.linspace(1, 2, output.numel()).reshape(output.shape).to(output) for output in outputs
    ]
    results = torch.autograd.grad(outputs, inputs, cotangents, allow_unused=True)
    return [value for value in results if value is not None]


def differ(without, checkpointed):
    finite = torch.isfinite(without)
    return (
        bool((finite & ~torch.isfinite(checkpointed)).any())
        or copies.relative_difference(without, checkpointed) > TOLERANCE
    )


class SavedTensors:
    """Leaves checkpoints out: what they are asked to compute is kept."""

    def __enter__(self):
        self.unwrap, self.created = getattr(recomputing, NAME), 0
        setattr(recomputing, NAME, self.generate)
        return self

    def generate(self, function, preserve_rng_state=True, *arguments, **options):
        if not preserve_rng_state:
            raise ValueError("random numbers are given up")
        self.created += 1
        yield

    def __exit__(self, *error):
        setattr(recomputing, NAME, self.unwrap)
