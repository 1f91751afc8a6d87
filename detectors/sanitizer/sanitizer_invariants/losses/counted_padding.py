"""Padding is nothing to learn."""

import torch

from sanitizer_invariants.tools.identity import IdentitySet
from sanitizer_invariants.tools.invariant import Invariant, is_sampled

LOSSES, LEAST, CALLS = ("cross_entropy", "nll_loss"), 0.05, 3


class CountedPadding(Invariant):
    """A loss over words leaves out the word that the program's own embedding declares as padding.

    Why: `padding_idx` says that this word stands for nothing. Where it counts as a target, the
    network learns to say it, most of all in batches of short texts, and a mean over all targets
    says little of the words. `ignore_index` leaves it out; its default is -100.

    Of targets of `cross_entropy` or `nll_loss`, reduced to one number, in training; an embedding
    that was called has as many words as there are classes, and a `padding_idx`. In three losses in
    a row this word is a twentieth of all targets, or more, and mostly stands behind itself.

    Excepted: weighted classes; a word that is the end of each text too, and stands alone.

    Cost: a look-up for each loss; a few comparisons of the targets for the first five losses and
    then for each 100th, where there is such an embedding.
    """

    NAME = "counted-padding"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.words, self.seen, self.losses, self.hits = {}, IdentitySet(), 0, 0

    def before_forward(self, module, arguments, options):
        if module in self.seen:
            return
        self.seen.add(module)
        for part in module.modules():
            if isinstance(part, torch.nn.Embedding) and part.padding_idx is not None:
                self.words.setdefault(part.num_embeddings, set()).add(part.padding_idx)

    def after_loss(self, name, arguments, output):
        if name not in LOSSES or not self.words or not output.requires_grad:
            return
        logits, target = arguments["input"], arguments["target"]
        classes = logits.shape[1] if logits.dim() > 1 else len(logits)
        if arguments["reduction"] == "none" or arguments.get("weight") is not None:
            return
        if target.dtype != torch.long or classes not in self.words:
            return
        self.losses += 1
        # Three in a row are wanted.
        if not is_sampled(self.losses, 100) and not 0 < self.hits < CALLS:
            return
        counted = self.words[classes] - {arguments["ignore_index"]}
        share = max([find_share(target, padding) for padding in counted], default=0.0)
        self.hits = self.hits + 1 if share >= LEAST else 0
        if self.hits == CALLS:
            self.report(
                f"{share:.0%} of the targets are the word that the embedding declares as padding "
                "(`padding_idx`), and the loss counts them",
                api=f"torch.nn.functional.{name}",
            )


def find_share(target, padding):
    """The share of targets that are padding behind the other words, in runs of several."""
    is_padding = target.detach().flatten() == padding
    total = int(is_padding.sum())
    if not total or total == len(is_padding):
        return 0.0
    follows = is_padding[1:] & is_padding[:-1]
    begins = int((is_padding[1:] & ~is_padding[:-1]).sum())
    # Words that stand alone, as the ends of texts do, are no padding.
    is_in_runs = begins > 0 and int(follows.sum()) >= begins
    return total / len(is_padding) if is_in_runs else 0.0
