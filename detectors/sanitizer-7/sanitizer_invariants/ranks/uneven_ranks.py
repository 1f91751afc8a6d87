"""The weight of each target in the gradients that ranks average."""

import torch
from torch.nn.parallel import DistributedDataParallel

from sanitizer_invariants.ranks.ranks import is_plain
from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.invariant import Invariant

STEPS, LIMIT, MUCH = 3, 20, 0.5


class UnevenRanks(Invariant):
    """In a step of several ranks each target of a mean cross entropy has the same weight.

    Why: DistributedDataParallel takes the mean of the ranks' gradients. Where each rank divides by
    the number of its own targets, and padding makes these numbers differ, a target of a rank with
    few of them weighs more, and the step is not that of the whole batch. The number of targets of
    all ranks is what to divide by.

    Weights are taken from the gradient of each loss. In three of the first twenty steps they differ
    between the ranks by more than a half, and not always in the same order; targets are left out
    by `ignore_index`.

    Excepted: passes with several cross entropies, losses that are not reduced to a mean, weighted
    classes, targets that are probabilities; wrappers of some of the ranks, and hooks of the
    communication.

    Cost: a count of the targets of each cross entropy of twenty steps, and a hook on its result.
    """

    NAME = "uneven-ranks"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.is_wrapped, self.leaves_out = False, False
        self.weights, self.losses, self.steps, self.place = [], 0, [], (None, None)

    def before_forward(self, module, arguments, options):
        if isinstance(module, DistributedDataParallel) and torch.is_grad_enabled():
            self.is_wrapped = self.is_wrapped or is_plain(module)

    def after_loss(self, name, arguments, output):
        if not self.is_wrapped or len(self.steps) >= LIMIT or not copies.is_distributed():
            return
        self.losses += 1
        target = arguments.get("target")
        is_mean = name == "cross_entropy" and arguments["reduction"] == "mean"
        if not is_mean or arguments["weight"] is not None or target.is_floating_point():
            return
        if not output.requires_grad:
            return
        count = int((target != arguments["ignore_index"]).sum())
        self.leaves_out = self.leaves_out or count < target.numel()
        self.place = self.program.here()
        output.register_hook(lambda gradient: self._note(count, gradient))

    def _note(self, count, gradient):
        if count and gradient.numel() == 1:
            self.weights.append(abs(float(gradient)) / count)

    def before_step(self, optimizer):
        weights, losses = self.weights, self.losses
        self.weights, self.losses = [], 0
        if not self.is_wrapped or not weights or losses != len(weights):
            return
        if len(self.steps) < LIMIT:
            self.steps.append(weights)
            note = {"steps": self.steps, "leaves_out": self.leaves_out, "where": self.place}
            self.program.note("uneven-ranks", note)

    def join(self, notes):
        """Compare the weights of all ranks."""
        ranks = [note["uneven-ranks"] for note in notes if "uneven-ranks" in note]
        if len(ranks) < 2 or not any(rank["leaves_out"] for rank in ranks):
            return
        orders = []
        for weights in zip(*(rank["steps"] for rank in ranks)):  # noqa: B905
            sums = [sum(of_rank) / len(of_rank) for of_rank in weights]
            if min(sums) > 0 and max(sums) / min(sums) > 1 + MUCH:
                orders.append(sums.index(max(sums)))
        if len(orders) >= STEPS and len(set(orders)) > 1:
            self.report(
                f"in {len(orders)} steps the {len(ranks)} ranks weigh their targets differently: "
                "each divides by the number of its own",
                api="torch.nn.functional.cross_entropy",
                iteration=1,
                where=tuple(ranks[0]["where"]),
            )
