"""What is evaluated was not learnt, by whatever way it came."""

import weakref

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant

LEAST, SHARES, MOST, EPOCHS, REPEATED = 20, (0.1, 0.9), 100_000, 2, 0.01
# Numbers of a sample that are looked at, and how many of these have to differ.
NUMBERS, DISTINCT = 64, 8


class TrainedValidation(Invariant):
    """Of the samples that are evaluated, not a part is what the model was trained on.

    Why: a validation set is there to tell what the model does with what it has not seen. A split
    that is drawn twice, indices of a part that are taken for indices of the whole, or rows that
    stand in a table twice put samples on both sides, and the validation is too good.

    Of batches of loaders, by their numbers: a tenth to nine tenths of the samples of a loader that
    is evaluated, in evaluation mode, without gradients and by a loss, were in batches of another
    loader before a backward pass; in two evaluations.

    Excepted: loaders that are trained on as well, and those of which nearly every sample was
    trained on, which tell how training goes; samples of few numbers or of few different ones, and
    those that come several times in the first epoch, which may be the same by accident; what
    training has changed at random; samples that a model has not met since it was made, or put back.

    Cost: a look at 64 numbers of each sample, for the first 100,000 that are trained on, and for
    each evaluation until two have been looked at.
    """

    NAME, LIGHT = "trained-validation", False
    VERSION = 6

    def __init__(self, program, report):
        super().__init__(program, report)
        self.current, self.samples = None, None
        self.stepped, self.learnt = IdentitySet(), set()
        # The samples of the first epoch that is trained on, each as often as it came.
        self.first, self.first_count, self.is_first = set(), 0, True
        self.trained, self.evaluated = IdentitySet(), IdentityTable()

    def after_load(self, loaded):
        # Who puts a model back begins anew with other samples.
        self.learnt = set()

    def after_loss(self, name, arguments, output):
        loader = self.current and self.current()
        if loader in self.evaluated and not torch.is_grad_enabled():
            self.evaluated[loader].is_judged = True

    def before_epoch(self, loader):
        self._conclude(loader)
        self.is_first = self.is_first and loader not in self.trained

    def end(self):
        for loader in list(self.evaluated):
            self._conclude(loader)

    def after_batch(self, loader, batch):
        self.current, self.samples = None, None
        if loader is not None:
            self.current, self.samples = weakref.ref(loader), copies.list_tensors(batch)

    def before_backward(self, tensors):
        loader = self.current and self.current()
        if loader is None:
            return
        self.trained.add(loader)
        if len(self.learnt) < MOST and self.samples is not None:
            marks = fingerprints(self.samples)
            self.learnt.update(marks)
            if self.is_first:
                self.first.update(marks)
                self.first_count += len(marks)
        self.samples = None

    def before_step(self, optimizer):
        if optimizer not in self.stepped:
            self.stepped.add(optimizer)
            # Another model has learnt what came before.
            last = fingerprints(self.samples) if self.samples is not None else ()
            self.learnt = set(last) if len(self.stepped) > 1 else self.learnt

    def before_forward(self, module, arguments, options):
        loader = self.current and self.current()
        is_evaluated = not module.training and not torch.is_grad_enabled()
        if loader is None or not is_evaluated or self.samples is None or loader in self.trained:
            return
        samples, self.samples = self.samples, None
        evaluation = self.evaluated.setdefault(loader, Evaluation())
        if evaluation.number < EPOCHS and self.learnt:
            marks = fingerprints(samples)
            evaluation.count += len(marks)
            evaluation.shared += len(self.learnt.intersection(marks))
            evaluation.where = self.program.here()

    def _conclude(self, loader):
        """Judge the evaluation that is over."""
        evaluation = self.evaluated.get(loader)
        if evaluation is None or not evaluation.count or loader in self.trained:
            return
        count, shared = evaluation.count, evaluation.shared
        if not evaluation.is_judged:
            return
        evaluation.count = evaluation.shared = 0
        is_shared = count >= LEAST and SHARES[0] * count <= shared <= SHARES[1] * count
        is_shared = is_shared and len(self.learnt) < MOST and not self._repeats()
        evaluation.number = evaluation.number + 1 if is_shared else 0
        if evaluation.number == EPOCHS:
            self.report(
                f"{shared} of the {count} samples that are evaluated were trained on",
                api="torch.utils.data.DataLoader",
                where=evaluation.where,
            )

    def _repeats(self):
        """Whether samples come several times in an epoch: they may be alike by accident."""
        return len(self.first) < (1 - REPEATED) * self.first_count


class Evaluation:
    """Samples of a loader that are being evaluated, and how often some of them were trained on."""

    def __init__(self):
        self.count = self.shared = self.number = 0
        self.where, self.is_judged = (None, None), False


def fingerprints(samples):
    """What tells each sample of a batch from others; nothing where they may be alike by
    accident.
    """
    sizes = {len(tensor) for tensor in samples if tensor.dim()}
    if len(sizes) != 1 or sizes == {0}:
        return []
    rows = [tensor.detach().flatten(1) for tensor in samples if tensor.dim() > 1]
    rows = [tensor for tensor in rows if tensor.layout == torch.strided and not tensor.is_meta]
    largest = max(rows, key=lambda tensor: tensor.shape[1], default=None)
    if largest is None or largest.shape[1] < DISTINCT:
        return []
    step = -(-largest.shape[1] // NUMBERS)
    numbers = largest[:, ::step].double().cpu()
    marks = [tuple(row) for row in numbers.tolist()]
    return [hash(mark) for mark in marks if len(set(mark)) >= DISTINCT]
