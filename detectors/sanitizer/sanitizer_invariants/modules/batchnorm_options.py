"""Batch normalisation is made with the options that are meant."""

import torch
from torch.nn.modules.batchnorm import _NormBase

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, is_sampled

EPS, MOMENTUM, BATCHES = 0.5, 0.9, 20


class BatchnormOptions(Invariant):
    """Batch normalisation has no `eps` of a half or more, and is not evaluated with statistics to
    which the last batch adds nine tenths.

    Why: `eps` is a small number that keeps a division from failing. The second argument is `eps`,
    and a momentum in its place dampens what is to be normalised. In torch `momentum` is the weight
    of the newest batch (0.1); in other libraries it is that of the old statistics (0.9, 0.99). With
    such a number the statistics of the evaluation are those of one batch.

    `eps` is looked at in training; `momentum` at evaluations without gradients, after 20 batches.

    Excepted: a momentum of 1 or None, which is one batch, or the mean of all, on purpose; networks
    that are not trained here.

    Cost: a look at the normalisations of a module at the first five calls, and then at each 50th.
    """

    NAME = "batchnorm-options"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.learning = IdentityTable(), IdentitySet()

    def before_forward(self, module, arguments, options):
        module = copies.unwrap(module)
        is_learning = torch.is_grad_enabled()
        counts = self.calls.setdefault(module, {})
        counts[is_learning] = counts.get(is_learning, 0) + 1
        if not is_sampled(counts[is_learning], 50):
            return
        look = self._look_at_eps if is_learning else self._look_at_momentum
        for part in module.modules():
            if isinstance(part, _NormBase):
                look(part)

    def _look_at_eps(self, part):
        if part.training:
            self.learning.add(part)
        if part.training and part.eps >= EPS:
            self.report(
                f"a {type(part).__name__} has an eps of {part.eps:g}, which is added to the "
                "variance: eps is the second argument, and momentum the third",
                api=f"torch.nn.{type(part).__name__}",
            )

    def _look_at_momentum(self, part):
        count = part.num_batches_tracked
        is_fed = part in self.learning and not part.training and part.running_mean is not None
        if not is_fed or count is None:
            return
        if part.momentum is None or not MOMENTUM <= part.momentum < 1:
            return
        if not count.is_meta and int(count) >= BATCHES:
            self.report(
                f"a {type(part).__name__} is evaluated with statistics that have a momentum of "
                f"{part.momentum:g}: in torch it is the weight of the newest batch, not of the old "
                "statistics",
                api=f"torch.nn.{type(part).__name__}",
            )
