"""What a network is to find out is hidden from it."""

import torch

from sanitizer_invariants.tools.graphs import kind, walk
from sanitizer_invariants.tools.hooks import may_read_saved
from sanitizer_invariants.tools.invariant import Invariant, is_sampled

LOSSES, NODES = ("cross_entropy", "nll_loss"), 20000
CLASSES, LEAST, MOST, VISIBLE, PADDING = 20, 64, 0.75, 0.3, 0.5
# How many words have to be hidden, and how many of these by the same one, which is the mask's.
HIDDEN, MASKS, ELSEWHERE = 8, 0.5, 0.1
FIRST, BATCHES = 20, 3


class VisibleTargets(Invariant):
    """Of the masked words that a network is to find out, most are hidden from it.

    Why: what stands in the input is learnt by copying, and says nothing of how to guess a word from
    the words around it. (BERT leaves a tenth of them, and replaces a tenth.)

    Of `cross_entropy` and `nll_loss` over more than 20 classes, in training. The table of words is
    what an embedding below the loss has read. A quarter of its places have no target: by
    `ignore_index`, or as their logits alone were chosen. One word hides most of those that are
    hidden, is no target, and hardly ever stands at other places. In three batches of 64 targets and
    more 30 % of them are the very word at their place.

    Excepted: texts most of whose other places are the same word (padding); targets that are not
    hidden at all (autoencoders, tags); networks below which no embedding is seen.

    Cost: a walk down the graph for the first twenty such losses and then for each 100th.
    """

    NAME, LIGHT = "visible-targets", False
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.losses, self.batches = 0, {}

    def after_loss(self, name, arguments, output):
        if name not in LOSSES or not output.requires_grad or not may_read_saved():
            return
        logits, target = arguments["input"], arguments["target"]
        if target.dtype != torch.long or target.is_meta or not target.numel():
            return
        if logits.dim() < 2 or logits.shape[1] <= CLASSES:
            return
        self.losses += 1
        if is_sampled(self.losses, 100, FIRST):
            self._look_at(logits, target.detach(), arguments["ignore_index"], name)

    def _look_at(self, logits, target, ignored, name):
        share = find_visible(logits, target, ignored)
        if share is None:
            return
        where = self.program.here()
        shares = self.batches.setdefault(where, [])
        shares.append(share)
        if len(shares) == BATCHES:
            self.report(
                f"{max(shares):.0%} of the masked words that the network is to find out stand in "
                "what it reads, at their places: it learns to copy them",
                api=f"torch.nn.functional.{name}",
            )


def find_visible(logits, target, ignored):
    """The share of targets that the network reads at their places, where it is too large;
    else None.
    """
    nodes = walk([logits.grad_fn], NODES)
    try:
        tables = [node._saved_indices for node in nodes if kind(node) == "Embedding"]
        choices = [choice for choice in map(find_choice, nodes) if choice is not None]
    except RuntimeError:
        # A backward pass has gone down the graph already, and has freed it.
        return None
    for words in tables:
        if words.dim() != 2 or words.device != target.device:
            continue
        wanted = find_wanted(words.shape, target, ignored, choices)
        share = None if wanted is None else judge(words.flatten(), wanted, ignored)
        if share is not None:
            return share
    return None


def find_choice(node):
    """What a node chooses some places by: the indices along each axis; None of other nodes."""
    if kind(node) == "Index":
        indices = [index for index in node._saved_indices if index is not None]
    elif kind(node) == "IndexSelect":
        indices = [node._saved_index]
    else:
        return None
    is_known = all(index.dtype in (torch.bool, torch.long) for index in indices)
    return indices if is_known and indices else None


def find_wanted(shape, target, ignored, choices):
    """The target of each place of a table, which may be the one to ignore; None where the targets
    are of no such table.
    """
    size = shape[0] * shape[1]
    target = target.flatten()
    if len(target) == size:
        return target
    for choice in choices:
        places = find_places(choice, shape)
        if places is not None and len(places) == len(target):
            wanted = torch.full((size,), ignored, device=target.device)
            wanted[places] = target
            return wanted
    return None


def find_places(choice, shape):
    """The places of a table, counted row by row, that are chosen; None where they are no such
    places.
    """
    size = shape[0] * shape[1]
    first = choice[0]
    if len(choice) == 1 and first.dtype == torch.bool:
        return first.flatten().nonzero()[:, 0] if first.numel() == size else None
    if any(index.dtype != torch.long or index.dim() != 1 for index in choice) or not len(first):
        return None
    places = first if len(choice) == 1 else first * shape[1] + choice[1]
    is_inside = len(choice) <= 2 and int(places.min()) >= 0 and int(places.max()) < size
    return places if is_inside else None


def judge(words, wanted, ignored):
    """The share of targets that stand at their places, where it is too large; else None."""
    is_counted = wanted != ignored
    number = int(is_counted.sum())
    if number < LEAST or number > MOST * len(words):
        return None
    is_visible = is_counted & (words == wanted)
    share = int(is_visible.sum()) / number
    hidden = words[is_counted & ~is_visible]
    if share <= VISIBLE or len(hidden) < HIDDEN:
        return None
    mask, masks = find_commonest(hidden)
    elsewhere = words[~is_counted]
    is_mask = (
        masks >= MASKS * len(hidden)
        and not bool((wanted[is_counted] == mask).any())
        and int((elsewhere == mask).sum()) <= ELSEWHERE * masks
    )
    is_padded = find_commonest(elsewhere)[1] > PADDING * len(elsewhere)
    return share if is_mask and not is_padded else None


def find_commonest(words):
    """The word that comes most often, and how often."""
    values, counts = words.unique(return_counts=True)
    place = int(counts.argmax())
    return int(values[place]), int(counts[place])
