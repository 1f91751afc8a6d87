"""A sample carries the gradients of its distribution."""

import torch

from sanitizer_invariants.tools.graphs import find_roots, walk
from sanitizer_invariants.tools.invariant import Invariant

NODES, PASSES, HITS = 2000, 20, 3
# Where layers keep what they were given.
INPUTS = ("_saved_mat1", "_saved_input", "_saved_self", "_saved_mat2")


class CutSample(Invariant):
    """A loss of a network that reads a sample, and of the distribution that it was drawn from,
    draws by `rsample`.

    Why: `sample()` cuts the gradients. A decoder learns from the sample, and the encoder learns
    only the other term, the divergence from the prior: it is drawn to the prior, and tells the
    decoder nothing. `rsample()` writes the sample as mean and noise.

    Of distributions of torch that have `rsample`, whose parameters have gradients; a layer has read
    the sample itself, and the parameters are in the same graph by another way; nobody has asked for
    the logarithm of the probability of this sample. In three backward passes.

    Excepted: distributions of classes, which have no `rsample`; policies, which ask for that
    logarithm; samples that are joined to other numbers before a layer reads them.

    Cost: a walk over at most 2000 nodes for the first twenty passes with such samples.
    """

    NAME = "cut-sample"
    VERSION = 8

    def __init__(self, program, report):
        super().__init__(program, report)
        self.samples, self.passes, self.hits = [], 0, 0

    def after_sample(self, distribution, *others):
        value = others[-1]
        if (
            self.passes == PASSES
            or not torch.is_grad_enabled()
            or not isinstance(value, torch.Tensor)
        ):
            return
        if not getattr(distribution, "has_rsample", False) or value.requires_grad:
            return
        makers = [tensor.grad_fn for tensor in list_parameters_of(distribution)]
        makers = [maker for maker in makers if maker is not None]
        if makers:
            self.samples.append((value, makers, type(distribution).__name__, self.program.here()))

    def after_log_prob(self, distribution, value, *others):
        self.samples = [sample for sample in self.samples if sample[0] is not value]

    def before_backward(self, tensors):
        samples, self.samples = self.samples, []
        if not samples:
            return
        self.passes += 1
        nodes = set(walk(find_roots(tensors), NODES))
        read = {tensor.data_ptr() for node in nodes for tensor in list_read(node)}
        for value, makers, name, where in samples:
            if value.data_ptr() in read and not nodes.isdisjoint(makers):
                self.hits += 1
                if self.hits == HITS:
                    self.report(
                        f"a network reads a sample of a {name} whose parameters are in the same "
                        "loss, and `sample()` gives them no gradient by it: `rsample()` does",
                        api=f"torch.distributions.{name}.sample",
                        where=where,
                    )
                return


def list_parameters_of(distribution, depth=2):
    """The tensors that a distribution was made with, or the one inside of it."""
    tensors = []
    for value in vars(distribution).values():
        if isinstance(value, torch.Tensor):
            tensors.append(value)
        elif depth and isinstance(value, torch.distributions.Distribution):
            tensors += list_parameters_of(value, depth - 1)
    return tensors


def list_read(node):
    """The tensors that a layer keeps for its backward pass."""
    values = [getattr(node, name, None) for name in INPUTS]
    return [
        value for value in values if isinstance(value, torch.Tensor) and not value.requires_grad
    ]
