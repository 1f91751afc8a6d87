"""Steps are not rounded away."""

import torch

from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, is_sampled, list_parameters

HALVES = (torch.float16, torch.bfloat16)
LOOKED_AT, LOOKS, SHARE = 4096, 3, 0.5


class RoundedAway(Invariant):
    """A step changes more than half of the weights of half precision that have a gradient.

    Why: a number in bfloat16 has eight significant bits. An update of less than a 512th of a weight
    is lost, and the next one begins from the same weight: small updates do not add up. Weights that
    are kept in single precision have the digits for them.

    Three looks in a row. Excepted: learning rates of zero, that are rising (a warm-up), or that
    have fallen to less than half of the largest one seen (a schedule may end with steps that do
    nothing); gradients that are zero; optimizers that are not torch's own, which may round by
    chance or keep the rest.

    Cost: a copy of 4096 numbers of each such parameter, for the first five steps and then for each
    50th.
    """

    NAME = "rounded-away"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.counts, self.looks, self.rates = (IdentityTable() for _ in range(3))
        self.before = None

    def before_step(self, optimizer):
        count = self.counts[optimizer] = self.counts.get(optimizer, 0) + 1
        self.before = None
        if not type(optimizer).__module__.startswith("torch.optim") or not is_sampled(count, 50):
            return
        halves = [
            parameter
            for parameter in list_parameters(optimizer)
            if parameter.dtype in HALVES and is_plain(parameter.grad)
        ]
        rate = (
            max((float(group["lr"]) for group in optimizer.param_groups), default=0.0)
            if halves
            else 0.0
        )
        before, peak = self.rates.get(optimizer, (rate, rate))
        self.rates[optimizer] = rate, max(rate, peak)
        if halves and 0 < rate <= before and rate >= peak / 2:
            self.before = [(half, head(half).clone(), head(half.grad) != 0) for half in halves]

    def after_step(self, optimizer):
        before, self.before = self.before, None
        if before is None:
            return
        with torch.no_grad():
            pushed = sum(int(moves.sum()) for _, _, moves in before)
            unmoved = 0
            for parameter, old, moves in before:
                unmoved += int(((head(parameter) == old) & moves).sum())
        is_lost = pushed > 0 and unmoved > SHARE * pushed
        self.looks[optimizer] = self.looks.get(optimizer, 0) + 1 if is_lost else 0
        if self.looks[optimizer] == LOOKS:
            kind = str(before[0][0].dtype).partition(".")[2]
            self.report(
                f"{unmoved / pushed:.0%} of the weights in {kind} are the same after a step, "
                "though their gradients are not zero: the updates are smaller than the digits of "
                "the type, and are rounded away",
                api="torch.nn.Module.to",
                iteration=self.program.iteration_of(optimizer) - 1,
            )


def is_plain(gradient):
    return gradient is not None and gradient.layout == torch.strided and not gradient.is_meta


def head(tensor):
    return tensor.detach().reshape(-1)[:LOOKED_AT]
