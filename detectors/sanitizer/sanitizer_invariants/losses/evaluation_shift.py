"""A validation asks for the token that training asks for."""

import weakref

import torch

from sanitizer_invariants.losses.skipped_token import find_tokens
from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, is_sampled
from sanitizer_invariants.tools.texts import LOSSES, match

MOST, FEW, TIMES = 0.95, 0.5, 2
KINDS = {"same": "the token at its place", "next": "the next token"}


class EvaluationShift(Invariant):
    """The targets of a language model stand at the same distance from its inputs in training and in
    validation.

    Why: a network that has learnt the next token says the next token. A validation whose targets
    are the tokens at their own place measures something else, and its loss goes up as the network
    learns.

    Of the first argument (or `input_ids`) of a network, texts of integers, and targets of
    `cross_entropy` or `nll_loss`: 95 % of the targets are the token at their place, or 95 % are the
    next one, and at most half are the other. Said where two losses of training are of one kind, and
    two without gradients of the other.

    Excepted: losses of any other kind, and networks that had losses of both kinds in training; a
    loss without gradients of what a network in training mode gave with gradients, which is shown.

    Cost: two comparisons of the tokens of a batch for the first five losses of training and of
    validation, and then for each 100th.
    """

    NAME = "evaluation-shift"
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.call, self.counts = None, {True: 0, False: 0}
        self.is_training = False
        self.kinds = IdentityTable()

    def before_forward(self, module, arguments, options):
        tokens = find_tokens(arguments, options)
        if tokens is not None:
            self.call = weakref.ref(copies.unwrap(module)), tokens
            self.is_training = module.training and torch.is_grad_enabled()

    def after_loss(self, name, arguments, output):
        module = self.call[0]() if self.call else None
        target = arguments.get("target")
        if name not in LOSSES or module is None or target.dtype != torch.long:
            return
        learns = output.requires_grad
        if self.is_training and not learns:
            return
        self.counts[learns] += 1
        if not is_sampled(self.counts[learns], 100) or target.device != self.call[1].device:
            return
        kind = find_kind(match(self.call[1], target, arguments["ignore_index"], 1))
        kinds = self.kinds.setdefault(module, {})
        kinds[learns, kind] = kinds.get((learns, kind), 0) + 1
        if not learns and kind is not None:
            self._compare(kinds, kind)

    def _compare(self, kinds, kind):
        (other,) = set(KINDS) - {kind}
        is_learnt = kinds.get((True, other), 0) >= TIMES and (True, kind) not in kinds
        if is_learnt and kinds[False, kind] >= TIMES:
            self.report(
                f"training asks for {KINDS[other]}, and this validation for {KINDS[kind]}",
                api="torch.nn.functional.cross_entropy",
            )


def find_kind(shares):
    """Which token targets are; None where they are neither or cannot be told."""
    if shares is None:
        return None
    same, following = shares
    if same >= MOST and following <= FEW:
        return "same"
    return "next" if following >= MOST and same <= FEW else None
