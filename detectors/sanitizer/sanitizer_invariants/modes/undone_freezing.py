"""What was put in evaluation mode to be kept stays there."""

from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.modes import depends_on_mode

STEPS = 10


class UndoneFreezing(Invariant):
    """A frozen part that was put in evaluation mode by itself is not put back by the whole.

    Why: `part.eval()` keeps the statistics of a frozen part. `model.train()`, at the begin of each
    epoch, puts all parts in training mode again: the normalisations follow the new data, dropout
    drops out, and the part is no longer what it was.

    Of a part with batch normalisation or dropout, all of whose parameters are frozen, and on which
    `eval()` was called; `train()` of a module around it has undone that; after ten steps it is
    still in training mode, and is frozen.

    Excepted: parts on which `train()` is called themselves; parts that were frozen or put in
    evaluation mode for a validation, and are not frozen when it is undone.

    Cost: a walk over the parts of a module for each call of `train` or `eval`, and a look at the
    parts that were undone for each step.
    """

    NAME = "undone-freezing"
    VERSION = 6

    def __init__(self, program, report):
        super().__init__(program, report)
        # Parts that were put in evaluation mode by themselves, and of those that were put back
        # the steps since then.
        self.kept, self.undone = IdentitySet(), IdentityTable()

    def after_mode(self, module, training):
        if not training:
            if is_frozen(module):
                self.kept.add(module)
            return
        self.kept.discard(module)
        self.undone.pop(module, None)
        for part in list(module.modules()):
            if part in self.kept and part is not module and is_frozen(part):
                self.undone.setdefault(part, 0)

    def after_step(self, optimizer):
        for part, steps in list(self.undone.items()):
            if not part.training or not is_frozen(part):
                del self.undone[part]
                continue
            self.undone[part] = steps + 1
            if steps + 1 == STEPS:
                self.report(
                    f"a frozen {type(part).__name__} was put in evaluation mode, and is in "
                    "training mode again: `train()` of the whole has undone it",
                    api="torch.nn.Module.train",
                )


def is_frozen(module):
    """Whether a part has parameters, all of them frozen, and what depends on the mode."""
    parameters = list(module.parameters())
    is_still = bool(parameters) and not any(item.requires_grad for item in parameters)
    return is_still and any(map(depends_on_mode, module.modules()))
