"""What the mask of a network hides is nothing to learn."""

import torch

from sanitizer_invariants.tools.invariant import Invariant, is_sampled
from sanitizer_invariants.tools.masks import find_hidden
from sanitizer_invariants.tools.texts import LOSSES, is_text

LEAST, CALLS, FITTING, LENGTH = 0.05, 3, 0.9, 4


class MaskedTargets(Invariant):
    """A loss over the tokens that a network has read leaves out those that its mask says are
    padding.

    Why: the mask says that these places stand for nothing. Where they count as targets, a network
    learns to say padding after padding, and the mean over all targets falls with the share of it,
    not with what is learnt. The labels are to be -100 there.

    A mask is a table of two values of the same shape as a table of tokens, given to the same call:
    on one of its sides, at one end of each text, all tokens are the same one, and texts have
    different numbers of it; on the other there are several. Of targets of `cross_entropy` and
    `nll_loss`, reduced to one number, in training: elsewhere they are the tokens of the same or of
    the next place; in three losses in a row a twentieth of those that count, or more, stands in
    padding. Advice where targets are the tokens of their own places: who says again what it has
    read as a whole may learn from the padding where the text ends.

    Excepted: weighted classes; the first token of padding, which may end the text, and the last one
    before a text.

    Cost: a look at the shapes of what a module is given; some comparisons of whole tables for the
    first five losses and then for each 100th, where there was such a mask.
    """

    NAME = "masked-targets"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.tables, self.losses, self.hits = None, 0, 0
        # Whether the targets of these losses were the tokens of the next place.
        self.is_next = True

    def before_forward(self, module, arguments, options):
        if not torch.is_grad_enabled():
            return
        tensors = self.program.list_given(arguments, options)
        for tokens in tensors:
            if not is_text(tokens) or tokens.shape[1] < LENGTH:
                continue
            masks = [mask for mask in tensors if mask is not tokens and mask.shape == tokens.shape]
            if masks:
                # A mask may be made for the call alone.
                self.tables = tokens, masks
                return

    def after_loss(self, name, arguments, output):
        if name not in LOSSES or self.tables is None or not output.requires_grad:
            return
        target = arguments["target"]
        if arguments["reduction"] == "none" or arguments.get("weight") is not None:
            return
        if target.dtype != torch.long or target.is_meta:
            return
        self.losses += 1
        # Three in a row are wanted.
        if not is_sampled(self.losses, 100) and not 0 < self.hits < CALLS:
            return
        share, is_next = self._find_share(target, arguments["ignore_index"])
        self.is_next = is_next and (self.is_next or not self.hits)
        self.hits = self.hits + 1 if share >= LEAST else 0
        if self.hits == CALLS:
            self.report(
                f"{share:.0%} of the targets that count stand where the network's mask says that "
                "there is padding",
                api=f"torch.nn.functional.{name}",
                severity="error" if self.is_next else "info",
            )

    def _find_share(self, target, ignored):
        """The largest share of counted targets that stand in padding, by any mask, and whether
        targets are the tokens of the next place.
        """
        tokens, masks = self.tables
        if tokens.device != target.device:
            return 0.0, False
        shares = [(0.0, False)]
        for mask in masks:
            padding = find_padding(tokens, mask.detach())
            if padding is not None:
                shares.append(share_in_padding(tokens, padding, target, ignored))
        return max(shares)


def find_padding(tokens, mask):
    """Which places are padding by a mask; None where the table is no such mask."""
    hidden = find_hidden(tokens, mask)
    return hidden if hidden is not None and is_at_ends(hidden) else None


def is_at_ends(padding):
    """Whether each row has its padding in one piece, at one end."""
    changes = (padding[:, 1:] != padding[:, :-1]).sum(1)
    lengths = padding.sum(1)
    is_uneven = bool((lengths != lengths[0]).any())
    return is_uneven and bool((changes <= 1).all()) and not bool(padding.all(1).any())


def share_in_padding(tokens, padding, target, ignored):
    """The share of the counted targets that stand in padding, and whether targets are the tokens of
    the next place; 0 where they are no tokens of these texts.
    """
    texts, length = tokens.shape
    places = target.numel() // texts
    if target.numel() != places * texts or places not in (length, length - 1):
        return 0.0, False
    target = target.reshape(texts, places)
    counts = target != ignored
    # The last token before the padding may learn that a text ends there.
    # The last padding before a text learns its first token.
    behind = torch.cat([padding[:, 1:], padding[:, -1:]], 1)
    inside = (padding & behind)[:, :places]
    outside = counts[:, : length - 1] & ~padding[:, : length - 1] & ~padding[:, 1:]
    compared = target[:, : length - 1]
    total = int(outside.sum())
    same = int(((compared == tokens[:, :-1]) & outside).sum())
    following = int(((compared == tokens[:, 1:]) & outside).sum())
    if not total or max(same, following) < FITTING * total:
        return 0.0, False
    return int((inside & counts).sum()) / int(counts.sum()), following > same
