"""Samples of all classes come in turns."""

import torch

from sanitizer_invariants.tools.invariant import Invariant

LOSSES, STEPS, ROWS, CLASSES = ("cross_entropy", "nll_loss"), 6, 4, 3


class SortedClasses(Invariant):
    """The classes of the samples that are learnt do not rise from batch to batch.

    Why: data in folders and tables is often sorted by its classes. Without `shuffle=True` the
    network learns one class after the other, and forgets the first one with the second.

    Of targets of `cross_entropy` or `nll_loss`, one for each sample, in the first steps with
    such a loss at a line of the program, six at least: the least class of a batch is the greatest
    class of the batch before, or higher, and there are three classes at least.

    Excepted: lines that compute several losses in a step (as for one domain after the other);
    batches of fewer than four samples; epochs of fewer than six batches.

    Cost: two numbers of the targets of each loss, until classes fall, as in shuffled data they do
    in the second batch.
    """

    NAME = "sorted-classes"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        # The batches of each line; None where their classes have fallen, or all is said.
        self.batches = {}

    def after_loss(self, name, arguments, output):
        target = arguments.get("target")
        if name not in LOSSES or not output.requires_grad:
            return
        if target.dtype != torch.long or target.dim() != 1 or len(target) < ROWS or target.is_meta:
            return
        where = self.program.here()
        batches = self.batches.setdefault(where, [])
        if batches is None:
            return
        lowest, highest = (int(number) for number in target.aminmax())
        batch = Batch(self.program.iteration, lowest, highest)
        if batches and not batch.follows(batches[-1]):
            self.batches[where] = None
            return
        batches.append(batch)
        seen = {number for batch in batches for number in (batch.lowest, batch.highest)}
        if len(batches) >= STEPS and len(seen) >= CLASSES:
            self.batches[where] = None
            self.report(
                f"the classes of {len(batches)} batches rise from {batches[0].lowest} to "
                f"{batches[-1].highest}: samples are sorted by their classes, and not shuffled",
                api="torch.utils.data.DataLoader",
            )


class Batch:
    """The iteration of a batch, and its least and greatest class."""

    def __init__(self, iteration, lowest, highest):
        self.iteration, self.lowest, self.highest = iteration, lowest, highest

    def follows(self, before):
        """Whether the batch is of a later step, and of the same classes as the one before or
        higher ones.
        """
        return self.iteration > before.iteration and self.lowest >= before.highest
