"""What a network says depends on what it is given."""

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.modes import has_parameter_of

EVERY, ROWS, TIMES, STEPS = 50, 8, 3, 50


class IgnoresInput(Invariant):
    """A network that is trained does not give the same for all samples of a batch.

    Why: then it has learnt one answer to everything. Its units are dead, its input was made zero or
    overwritten on the way, or its answer is clipped.

    Seen where all rows of all outputs are equal bit by bit, in batches of eight samples and more
    that are not equal; at three looks in a row, after 50 steps, one of them in another batch.

    Excepted: outputs that are no numbers of floating point, or are -1, 0 or 1 alone (a policy that
    always goes as far as it can, answers that are rounded); outputs without a row for each sample.

    Cost: a comparison of the rows of an output at each 50th call of a module.
    """

    NAME = "ignores-input"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.times = IdentityTable(), IdentityTable()

    def after_forward(self, module, arguments, options, output):
        module = copies.unwrap(module)
        count = self.calls[module] = self.calls.get(module, 0) + 1
        if count % EVERY or self.program.completed < STEPS:
            return
        inputs = self.program.list_given(arguments, options)
        is_constant = ignores(inputs, copies.list_tensors(output)) and self._is_trained(module)
        self.times[module] = self.times.get(module, 0) + 1 if is_constant else 0
        if self.times[module] == TIMES:
            self.report(
                f"all outputs of {type(module).__name__} for a batch are the same, whatever it is "
                "given: its units are dead, or its input does not reach them",
                api="torch.nn.Module.__call__",
            )

    def _is_trained(self, module):
        return any(has_parameter_of(optimizer, module) for optimizer in self.program.optimizers())


def ignores(inputs, outputs):
    """Whether all rows of outputs are the same, for rows of inputs that are not."""
    size = len(inputs[0]) if inputs and inputs[0].dim() else 0
    numbers = [tensor for tensor in outputs if tensor.is_floating_point()]
    is_batch = size >= ROWS and all(tensor.dim() and len(tensor) == size for tensor in numbers)
    if not numbers or not is_batch or inputs[0].is_meta or inputs[0].layout != torch.strided:
        return False
    with torch.no_grad():
        if not has_one_row(inputs[0]):
            return all(has_one_row(tensor) and not is_extreme(tensor) for tensor in numbers)
    return False


def has_one_row(tensor):
    return bool((tensor == tensor[:1]).all())


def is_extreme(tensor):
    """Whether all numbers are -1, 0 or 1."""
    return bool((tensor == tensor.sign()).all())
