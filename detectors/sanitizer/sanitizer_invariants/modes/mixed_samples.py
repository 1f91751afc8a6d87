"""A sample's output is its own."""

import weakref

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, is_sampled
from sanitizer_invariants.tools.samples import LEAST, Samples, select_rows
from sanitizer_invariants.tools.tracing import describe_module, trace_call

# What is rounded for a whole batch at once (quantisation) differs by a hundredth.
SHARE = 0.05
LOSSES, TARGETS = ("cross_entropy", "nll_loss"), 3


class MixedSamples(Invariant):
    """In evaluation mode the output for a sample does not depend on the other samples of its batch.

    Why: which samples share a batch is chance. A recurrent layer or an attention that takes the
    axis of the batch for time, a softmax over it, or a `view` in the place of a transposition
    computes one sample from others.

    The first axis counts samples where a DataLoader that shuffles has given tensors of that kind.
    In a copy, every other sample is replaced; the outputs for the rest must not change by more than
    a twentieth. It also does so in training, where a network gives one row of logits for each
    target of a cross-entropy, three times for as many, and gets as many tables, images or texts:
    then the copy is put into evaluation mode.

    Excepted: modules that are not in evaluation mode as a whole, draw random numbers or cannot be
    copied, normalise by the batch on purpose (`track_running_stats=False`), or give a table of all
    samples with all (contrastive learning). An attention between samples by design is not, nor are
    experts with a limited capacity.

    Cost: three calls of copies for the first five calls of a module in evaluation mode, one in
    training, and then for each 200th.
    """

    NAME, LIGHT = "mixed-samples", False
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.samples, self.calls = Samples(), IdentityTable()
        self.reported, self.labelled = IdentitySet(), Labelled()

    def after_batch(self, loader, batch):
        self.samples.note(loader, batch)

    def after_loss(self, name, arguments, output):
        if name in LOSSES and output.requires_grad:
            self.labelled.note(arguments["input"], arguments["target"])

    def before_forward(self, module, arguments, options):
        module = copies.unwrap(module)
        if module in self.reported:
            return
        tensors = self.program.list_given(arguments, options)
        if torch.is_grad_enabled():
            first = self.labelled.find_batch(module, tensors)
        elif self.samples.kinds and copies.is_evaluating(module):
            first = next((tensor for tensor in tensors if self.samples.is_one(tensor)), None)
        else:
            return
        if first is None or select_rows(tensors, len(first)) is None:
            return
        counts = self.calls.setdefault(module, {True: 0, False: 0})
        counts[module.training] += 1
        if is_sampled(counts[module.training], 200, 1 if module.training else 5):
            self._look_at(module, len(first), arguments, options)

    def _look_at(self, module, size, arguments, options):
        if any(map(is_of_batches, module.modules())):
            return
        twin = copies.duplicate_all(module, arguments, options)
        culprit = twin and copies.attempt(self.program, find_mixing, size, *twin)
        if culprit:
            self.reported.add(module)
            self.report(
                f"in evaluation mode the output of {culprit} for a sample depends on the other "
                "samples of the batch",
                api=culprit,
            )


class Labelled:
    """Networks that get as many tables, images or texts as there are targets of a cross-entropy,
    the same number several times in a row.
    """

    def __init__(self):
        self.call, self.counts = None, IdentityTable()

    def find_batch(self, module, tensors):
        """The first tensor that a network gets, if its rows are known to be samples."""
        first = tensors[0] if tensors else None
        if first is None or not is_table(first):
            self.call = None
            return None
        self.call = weakref.ref(module), len(first)
        size, count = self.counts.get(module, (0, 0))
        return first if size == len(first) and count >= TARGETS else None

    def note(self, logits, target):
        """Remember the targets that a network may have given logits for."""
        module, size = (self.call[0](), self.call[1]) if self.call else (None, 0)
        if module is None or target.dtype != torch.long or target.dim() != 1:
            return
        if logits.dim() == 2 and len(target) == size != logits.shape[1]:
            before, count = self.counts.get(module, (size, 0))
            self.counts[module] = size, count + 1 if before == size else 1


def is_table(tensor):
    """Whether a tensor holds several texts, tables or images; a matrix may be one table."""
    is_text = tensor.dim() == 2 and not tensor.is_floating_point()
    return (tensor.dim() > 2 or is_text) and len(tensor) >= LEAST


def is_of_batches(part):
    """Whether a part computes with the whole batch on purpose."""
    normalises = (
        isinstance(part, torch.nn.modules.batchnorm._BatchNorm) and part.running_mean is None
    )
    return normalises or ".ao." in type(part).__module__


def find_mixing(size, module, arguments, options):
    """The name of what mixes samples, or None."""
    module.eval()
    before = copies.generator_states()
    output, parts = trace_call(module, arguments, options, False)
    again, _ = trace_call(module, arguments, options, False)
    if not copies.are_identical(output, again) or not copies.are_identical(
        before, copies.generator_states()
    ):
        return None
    for tensor in select_rows(copies.list_tensors((arguments, options)), size):
        tensor.detach()[::2] = tensor[
            [place % (size // 2) * 2 + 1 for place in range((size + 1) // 2)]
        ]
    other, parts_of_one = trace_call(module, arguments, options, False)
    if not depends(output, other, size):
        return None
    for part, (inputs, outputs) in parts.items():
        if (
            part in parts_of_one
            and has_rows(inputs, size)
            and not depends(inputs, parts_of_one[part][0], size)
            and depends(outputs, parts_of_one[part][1], size)
        ):
            return describe_module(part)
    return describe_module(module)


def has_rows(inputs, size):
    """Whether some of the inputs are known to have a row for each sample."""
    tensors = copies.list_tensors(inputs)
    return any(tensor.is_floating_point() and select_rows([tensor], size) for tensor in tensors)


def depends(first, second, size):
    """Whether every other row of the outputs has changed."""
    first, second = copies.list_tensors(first), copies.list_tensors(second)
    if [tensor.shape for tensor in first] != [tensor.shape for tensor in second]:
        return False
    pairs = zip(first, second)  # noqa: B905
    return any(
        copies.relative_difference(pair[1::2], other[1::2]) > SHARE
        for pair, other in pairs
        if pair.is_floating_point() and select_rows([pair], size)
    )
