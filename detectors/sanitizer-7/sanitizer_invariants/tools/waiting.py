"""Parameters that have gradients step after step, and that no code changes."""

import weakref

import torch

from sanitizer_invariants.tools.invariant import checksum_of

# One or two passes may be a look at the gradients (pruning, a search for the learning rate).
STEPS = 3


class Waiting:
    """Counts for each parameter the steps in a row that leave it as it is although it has a
    gradient.
    """

    def __init__(self):
        self.counts = {}

    def count(self, parameter, backward_pass=None):
        """How many steps in a row, this one included; several after one backward pass are one, if
        its number is told.
        """
        reference, before, steps, last_pass = self.counts.pop(id(parameter), (None, None, 0, None))
        if not parameter.requires_grad or not _has_gradient(parameter):
            return 0
        now = checksum_of(parameter)
        if reference is None or reference() is not parameter or now != before:
            steps = 1
        elif backward_pass is None or backward_pass != last_pass:
            steps += 1
        self.counts[id(parameter)] = weakref.ref(parameter), now, steps, backward_pass
        return steps


def is_looked_at(count, every=50):
    """Whether the count-th step is: as `sampled`, but with enough steps in a row."""
    return count <= STEPS + 2 or count % every < STEPS


def _has_gradient(parameter):
    gradient = parameter.grad
    if gradient is None or gradient.is_meta:
        return False
    with torch.no_grad():
        return gradient.layout != torch.strided or bool((gradient != 0).any())
