"""Targets are what their loss takes for targets."""

import torch

from sanitizer_invariants.tools.invariant import Invariant, is_sampled

# Losses whose targets say by their sign which of two kinds a sample is.
SIGNS = {"cosine_embedding_loss", "hinge_embedding_loss", "soft_margin_loss"}
# Losses of a probability for each target, and of a distribution, whose targets may be densities.
SHARES = {"binary_cross_entropy_with_logits", "multilabel_soft_margin_loss"}
DISTRIBUTIONS = {"cross_entropy", "kl_div"}
# Noisy labels of adversarial training go a little beyond 0 and 1.
LOWEST, HIGHEST, HITS = -0.5, 1.5, 3


class ImproperTargets(Invariant):
    """Targets are numbers that their loss is defined for.

    Why: losses do not look at their targets. Signs of -1 and 1 that are given as 0 and 1 make a
    term constant; probabilities below 0 or far above 1 (masks of 0 and 255, labels of -1 and 1,
    logits of a teacher) have no least loss, and outputs run away; a blank among the targets of CTC
    has no path.

    In three losses in a row: targets of `cosine_embedding_loss`, `hinge_embedding_loss` or
    `soft_margin_loss` are 0 somewhere, and nowhere -1; targets of
    `binary_cross_entropy_with_logits` or `multilabel_soft_margin_loss` are below -0.5 or above 1.5,
    and of `kl_div`, or of `cross_entropy` with probabilities, below -0.5; targets of `ctc_loss`
    have its blank.

    Excepted: losses that are weighted or not reduced, which may leave targets out; classes;
    `kl_div` with `log_target`; targets with gradients; where no sample has the one of two kinds.

    Cost: the least and the greatest number of the targets, for the first five losses and then for
    each 100th.
    """

    NAME = "improper-targets"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        # Of each line: losses, and how many in a row were odd.
        self.losses, self.hits = {}, {}

    def after_loss(self, name, arguments, output):
        if name not in JUDGES or not output.requires_grad:
            return
        place = name, self.program.here()
        self.losses[place] = self.losses.get(place, 0) + 1
        hits = self.hits.get(place, 0)
        if not is_sampled(self.losses[place], 100) and not 0 < hits < HITS:
            return
        # What is weighted, or not summed up yet, may leave out the targets that are odd.
        if arguments.get("reduction") == "none" or arguments.get("weight") is not None:
            return
        target = arguments["targets" if name == "ctc_loss" else "target"]
        if not isinstance(target, torch.Tensor) or target.is_meta or not target.numel():
            return
        why = None if target.requires_grad else JUDGES[name](target.detach(), arguments)
        self.hits[place] = hits + 1 if why else 0
        if self.hits[place] == HITS:
            self.report(f"targets of `{name}` {why}", api=f"torch.nn.functional.{name}")


def judge_sign(target, arguments):
    """Of 0 and 1 in place of -1 and 1."""
    has_zero, has_one = bool((target == 0).any()), bool((target == 1).any())
    if has_zero and has_one and not bool((target < 0).any()):
        return "are 0 and 1, and have to be -1 and 1"
    return None


def judge_share(target, arguments):
    if not target.is_floating_point() or arguments.get("log_target"):
        return None
    lowest, highest = (float(number) for number in target.aminmax())
    if lowest < LOWEST or highest > HIGHEST:
        return f"are no probabilities: they go from {lowest:.3g} to {highest:.3g}"
    return None


def judge_distribution(target, arguments):
    if not target.is_floating_point() or arguments.get("log_target"):
        return None
    lowest = float(target.min())
    return f"are no probabilities: the least one is {lowest:.3g}" if lowest < LOWEST else None


def judge_blank(target, arguments):
    blank, lengths = arguments["blank"], arguments["target_lengths"]
    if target.dim() == 2:
        # What stands behind the end of a text is not read.
        lengths = torch.as_tensor(lengths, device=target.device)
        places = torch.arange(target.shape[1], device=target.device)
        target = target[places < lengths.reshape(-1, 1)]
    if bool((target == blank).any()):
        return f"have the blank, {blank}, among them"
    return None


JUDGES = {
    **dict.fromkeys(SIGNS, judge_sign),
    **dict.fromkeys(SHARES, judge_share),
    **dict.fromkeys(DISTRIBUTIONS, judge_distribution),
    "ctc_loss": judge_blank,
}
