"""What is to be foretold is not among the numbers that are read."""

import torch

from sanitizer_invariants.tools.invariant import Invariant, is_sampled

LOSSES = (
    "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cross_entropy", "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
)  # fmt: skip
SAMPLES, NUMBERS, COLUMNS, VALUES, CALLS = 16, 4096, 8, 8, 3
# Two classes are the same in two columns by chance once in 2 ** 48 losses.
CLASSES, MORE_SAMPLES = 2, 32


class LeakedTarget(Invariant):
    """The targets of a network are no part of the one tensor that it reads.

    Why: a network that reads what it is to foretell copies it. Its loss is near zero in training
    and in validation, and it knows nothing where the answer is not at hand: the column of the
    target was left in a table, or a window of a series ends with the value that comes next.

    Of a module that is given one tensor of floating point in training, and targets of losses of
    numbers or classes: each of the first eight columns of the targets is equal to one column of the
    input in all samples, of which there are 16 or more (of classes 32) with eight or more different
    values (of classes two); in three losses in a row.

    Excepted: targets of half as many numbers as the input, or more (autoencoders); modules that are
    given several tensors (a decoder reads the targets before); inputs of more than 4096 numbers.

    Cost: eight comparisons of the input for the first five losses and then for each 100th.
    """

    NAME = "leaked-target"
    VERSION = 8

    def __init__(self, program, report):
        super().__init__(program, report)
        self.table, self.losses, self.hits = None, 0, 0

    def before_forward(self, module, arguments, options):
        if not torch.is_grad_enabled():
            return
        tensors = self.program.list_given(arguments, options)
        is_one = len(tensors) == 1 and tensors[0].is_floating_point() and tensors[0].dim() > 1
        self.table = tensors[0] if is_one and not tensors[0].is_meta else None

    def after_loss(self, name, arguments, output):
        target, table = arguments.get("target"), self.table
        if name not in LOSSES or table is None or not output.requires_grad:
            return
        if not isinstance(target, torch.Tensor) or not target.dim() or len(target) != len(table):
            return
        self.losses += 1
        # Three in a row are wanted.
        if not is_sampled(self.losses, 100) and not 0 < self.hits < CALLS:
            return
        self.hits = self.hits + 1 if is_contained(target.detach(), table.detach()) else 0
        if self.hits == CALLS:
            self.report(
                "the targets are columns of what the network reads: it learns to copy them",
                api=f"torch.nn.functional.{name}",
            )


def is_contained(target, table):
    """Whether the first columns of the targets are columns of the input."""
    size = len(table)
    if target.device != table.device or size < SAMPLES or table.layout != torch.strided:
        return False
    columns, wanted = table.reshape(size, -1), target.reshape(size, -1)
    if columns.shape[1] > NUMBERS or 2 * wanted.shape[1] >= columns.shape[1]:
        return False
    return all(
        has_values(column) and bool((columns == column[:, None]).all(0).any())
        for column in wanted.to(columns.dtype).unbind(1)[:COLUMNS]
    )


def has_values(column):
    """Whether a column has so many different numbers that it is not the same by chance."""
    count = len(column.unique())
    return count >= VALUES or (count >= CLASSES and len(column) >= MORE_SAMPLES)
