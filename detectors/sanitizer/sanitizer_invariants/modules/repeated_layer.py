"""A stack of layers has several."""

import torch
from torch import nn

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.graphs import walk
from sanitizer_invariants.tools.identity import IdentitySet
from sanitizer_invariants.tools.invariant import Invariant

NODES = 500


class RepeatedLayer(Invariant):
    """No list of layers that follow one another has the same layer several times.

    Why: `[Layer()] * 6` is a list of one layer, six times. What looks like a deep network has the
    parameters of one layer, whose gradients add up. Who shares weights on purpose calls one layer
    in a loop, and needs no list.

    Of `ModuleList` and `Sequential` that hold a module with parameters twice; in one call of the
    network in training, what it is given later was computed from what it gave before.

    Excepted: heads that are listed several times, and called side by side; layers without
    parameters.

    Cost: a look at the lists of a network at its first call in training; a hook on such a layer for
    that call.
    """

    NAME = "repeated-layer"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.seen, self.chains = IdentitySet(), []

    def before_forward(self, module, arguments, options):
        module = copies.unwrap(module)
        if not torch.is_grad_enabled() or module in self.seen:
            return
        self.seen.add(module)
        self._remove()
        self.chains = [Chain(part, names) for part, names in list_repeated(module)]

    def after_forward(self, module, arguments, options, output):
        for chain in self._remove():
            if chain.is_linked:
                self.report(
                    f"a {chain.container} has the same {chain.name} {chain.count} times, and "
                    "goes through it again and again: it is one layer, with one set of parameters",
                    api=f"torch.nn.{chain.container}",
                )

    def _remove(self):
        """Take the hooks away, also those of a call that has failed."""
        chains, self.chains = self.chains, []
        for chain in chains:
            chain.handle.remove()
        return chains


class Chain:
    """A layer that a list has several times, watched for a call."""

    def __init__(self, part, listed):
        self.container, self.count = listed
        self.name, self.last, self.is_linked = type(part).__name__, None, False
        self.handle = part.register_forward_hook(self.note)

    def note(self, part, inputs, output):
        before, tensors = self.last, copies.list_tensors(inputs)
        nodes = [tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None]
        if before is not None and before in walk(nodes, NODES):
            self.is_linked = True
        outputs = copies.list_tensors(output)
        self.last = outputs[0].grad_fn if outputs else None


def list_repeated(module):
    """The layers that a list inside of a module has several times; with the kind of the list, and
    how many times.
    """
    repeated = []
    for container in module.modules():
        if type(container) not in (nn.ModuleList, nn.Sequential):
            continue
        layers = list(container._modules.values())
        for layer in {id(layer): layer for layer in layers if layer is not None}.values():
            count = sum(other is layer for other in layers)
            if count > 1 and any(True for _ in layer.parameters()):
                repeated.append((layer, (type(container).__name__, count)))
    return repeated
