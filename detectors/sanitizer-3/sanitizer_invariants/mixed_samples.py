"""A sample's output is its own."""

import weakref

import torch

from sanitizer_invariants import twins
from sanitizer_invariants.base import Invariant, sampled
from sanitizer_invariants.evaluation_depends_on_grad import name_of, traced
from sanitizer_invariants.samples import Samples, rows

# What is rounded for a whole batch at once (quantisation) differs by a hundredth.
SHARE = 0.05


class MixedSamples(Invariant):
    """In evaluation mode the output for a sample does not depend on the other samples of its batch.

    Why: which samples share a batch is chance. A recurrent layer or an attention that takes the axis of the batch for
    time, a softmax over it, or a `view` in the place of a transposition computes one sample from others.

    The first axis counts samples where a DataLoader that shuffles has given tensors of that kind. In a copy, every
    other sample is replaced; the outputs for the rest must not change by more than a twentieth.

    Excepted: modules that are not in evaluation mode as a whole, draw random numbers or cannot be copied, normalise by
    the batch on purpose (`track_running_stats=False`), or give a table of all samples with all (contrastive learning).
    An attention between samples by design is not, nor are experts with a limited capacity.

    Cost: three calls of copies for the first five calls of a module and then for each 200th.
    """

    NAME, LIGHT = "mixed-samples", False

    def __init__(self, program, report):
        super().__init__(program, report)
        self.samples, self.calls, self.said = Samples(), weakref.WeakKeyDictionary(), weakref.WeakSet()

    def after_batch(self, loader, batch):
        self.samples.note(loader, batch)

    def before_forward(self, module, arguments, options):
        module = twins.bare(module)
        if not self.samples.kinds or torch.is_grad_enabled() or module in self.said or not twins.evaluates(module):
            return
        given = twins.leaves((arguments, options))
        first = next((each for each in given if self.samples.is_one(each)), None)
        if first is None or rows(given, len(first)) is None:
            return
        self.calls[module] = self.calls.get(module, 0) + 1
        if not sampled(self.calls[module], 200) or any(map(is_of_batches, module.modules())):
            return
        twin = twins.copied(module, arguments, options)
        culprit = twin and twins.attempted(self.program, mixing, len(first), *twin)
        if culprit:
            self.said.add(module)
            self.report(
                f"in evaluation mode the output of {culprit} for a sample depends on the other samples of the batch",
                api=culprit,
            )


def is_of_batches(part):
    """Whether a part computes with the whole batch on purpose."""
    normalises = isinstance(part, torch.nn.modules.batchnorm._BatchNorm) and part.running_mean is None
    return normalises or ".ao." in type(part).__module__


def mixing(size, module, arguments, options):
    """The name of what mixes samples, or None."""
    before = twins.generators()
    output, parts = traced(module, arguments, options, False)
    again, _ = traced(module, arguments, options, False)
    if not twins.identical(output, again) or not twins.identical(before, twins.generators()):
        return None
    for each in rows(twins.leaves((arguments, options)), size):
        each.detach()[::2] = each[[place % (size // 2) * 2 + 1 for place in range((size + 1) // 2)]]
    other, others = traced(module, arguments, options, False)
    if not depends(output, other, size):
        return None
    for part, (inputs, outputs) in parts.items():
        if part in others and not depends(inputs, others[part][0], size) and depends(outputs, others[part][1], size):
            return name_of(part)
    return name_of(module)


def depends(left, right, size):
    """Whether every other row of the outputs has changed."""
    left, right = twins.leaves(left), twins.leaves(right)
    if [each.shape for each in left] != [each.shape for each in right]:
        return False
    pairs = zip(left, right)  # noqa: B905
    return any(
        twins.difference(one[1::2], other[1::2]) > SHARE
        for one, other in pairs
        if one.is_floating_point() and rows([one], size)
    )
