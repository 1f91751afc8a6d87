"""A language model learns where a text ends."""

import torch

from sanitizer_invariants.tools.invariant import Invariant, is_sampled
from sanitizer_invariants.tools.masks import find_hidden
from sanitizer_invariants.tools.texts import LOSSES, is_text

LENGTH, TEXTS, CALLS, SHARE, TURNS = 4, 3, 3, 0.9, 2


class UnlearntEnd(Invariant):
    """The token that ends each text is learnt, though the same token fills up short texts.

    Why: a model that has learnt no end writes on until it may not write any more. Where one token
    both ends and pads, what leaves it out of the labels by its number leaves out the ends, too. The
    mask of the network tells one from the other.

    A mask is a table of two values of the same shape as a table of tokens, given to the same call:
    on one of its sides all tokens are the same one, on the other there are several. Of targets of
    `cross_entropy` and `nll_loss` in training: nine tenths of the texts have this token at their
    last place that the mask shows, and the token before it counts as a target, or is followed by
    one; in three losses in a row neither these ends nor any other target are this token. Targets
    are the tokens of the next place: who says again what it has read need not end it.

    Excepted: texts without such an end, or with other tokens before it that are learnt, and are the
    same one in all of them, or two that one other token follows elsewhere, as where turns end;
    answers of one or two tokens; batches of less than three texts, or without padding; targets that
    are no tokens of these texts; networks with another loss that has a target for each text or each
    token, which may say the end.

    Cost: a look at the shapes of what a module is given; some comparisons of whole tables for the
    first five losses and then for each 100th, where there was such a mask.
    """

    NAME = "unlearnt-end"
    VERSION = 8

    def __init__(self, program, report):
        super().__init__(program, report)
        self.tables, self.losses, self.hits = None, 0, 0

    def before_forward(self, module, arguments, options):
        if not torch.is_grad_enabled():
            return
        tensors = self.program.list_given(arguments, options)
        for tokens in tensors:
            if not is_text(tokens) or len(tokens) < TEXTS or tokens.shape[1] < LENGTH:
                continue
            masks = [mask for mask in tensors if mask is not tokens and mask.shape == tokens.shape]
            if masks:
                # A mask may be made for the call alone.
                self.tables = tokens, masks
                return

    def after_loss(self, name, arguments, output):
        if self.tables is None or not output.requires_grad:
            return
        target = arguments.get("target")
        if name not in LOSSES:
            self.hits = 0 if self._may_end(target) else self.hits
            return
        if target.dtype != torch.long or target.is_meta:
            return
        self.losses += 1
        # Three in a row are wanted.
        if not is_sampled(self.losses, 100) and not 0 < self.hits < CALLS:
            return
        is_broken = self._is_unlearnt(target, arguments["ignore_index"])
        self.hits = self.hits + 1 if is_broken else 0
        if self.hits == CALLS:
            self.report(
                "the token that ends each text also fills up short ones, and no loss counts it: "
                "the model does not learn to end",
                api=f"torch.nn.functional.{name}",
            )

    def _may_end(self, target):
        """Whether the targets of another loss may say where texts end."""
        texts, length = self.tables[0].shape
        sizes = texts, texts * length, texts * (length - 1)
        return isinstance(target, torch.Tensor) and target.numel() in sizes

    def _is_unlearnt(self, target, ignored):
        tokens, masks = self.tables
        texts, length = tokens.shape
        places = target.numel() // texts
        fits = target.numel() == places * texts and places in (length, length - 1)
        if not fits or tokens.device != target.device:
            return False
        target = target.detach().reshape(texts, places)
        hidden = [find_hidden(tokens, mask) for mask in masks]
        return any(
            misses_ends(tokens, places, target, ignored) for places in hidden if places is not None
        )


def misses_ends(tokens, hidden, target, ignored):
    """Whether the targets leave out the last shown token of each text, which is the hidden one."""
    padding = tokens[hidden][0]
    numbers = torch.arange(tokens.shape[1], device=tokens.device)
    last = torch.where(hidden, -1, numbers).amax(1)
    is_end = (tokens.gather(1, last.clamp(min=0)[:, None])[:, 0] == padding) & (last > 1)
    counts = target != ignored
    if float(is_end.float().mean()) < SHARE or bool(((target == padding) & counts).any()):
        return False
    rows, before = is_end.nonzero().flatten(), (last - 2)[is_end].clamp(min=0)
    wanted = tokens[rows, before + 1]
    is_learnt = counts[rows, before] & (target[rows, before] == wanted)
    is_missed = float(is_learnt.float().mean()) >= SHARE and not counts[rows, before + 1].any()
    # An answer of one token needs no end.
    is_long = float(counts[rows].sum(1).float().mean()) > 2
    return is_missed and is_long and not end_turns(wanted.unique(), tokens, padding)


def end_turns(words, tokens, padding):
    """Whether words are the ends of turns, as chats have them: one stands before all ends, or two,
    and behind each of them there is one other token, too, as where the next turn begins. Answers
    may be one of two words, which stand nowhere else.
    """
    followers = [tokens[:, 1:][tokens[:, :-1] == word].unique() for word in words]
    others = [int((following != padding).sum()) for following in followers]
    return len(words) == 1 or others == [1] * TURNS
