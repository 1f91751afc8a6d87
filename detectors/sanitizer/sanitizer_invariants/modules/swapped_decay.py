"""An average of weights follows them slowly."""

import gc
import weakref

import torch

from sanitizer_invariants.tools.invariant import Invariant, list_parameters

# A look for averages at these steps; the numbers that are looked at of one tensor, and how many
# tensors; in how many steps in a row.
SEARCHES, NUMBERS, TENSORS, PAIRS, STEPS, LOOKS = (20, 200), 256, 4, 16, 20, 200
SHARE, ROUNDING = 0.9, 0.02


class SwappedDecay(Invariant):
    """No average of weights takes nine tenths of itself from the newest weights at each step.

    Why: an average moves by a small share, so that it is a mean over many steps: `decay * average +
    (1 - decay) * weights`. Where the two factors are swapped it is all but a copy: a target of a
    learner moves with what is learnt from it, and a mean of weights is none.

    Of networks that no optimizer holds, and of the same class and shapes as one that is trained:
    in 20 steps in a row what it is now lies between what it was and the trained weights, nine
    tenths of the way or more.

    Excepted: copies (which are equal); averages that begin as copies, and slow down; averages that
    are kept as tensors outside of modules; networks that are made after the 200th step.

    Cost: a walk over all objects at two steps; where there is such a network, some numbers of it at
    200 steps at most.
    """

    NAME, LIGHT = "swapped-decay", False
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.pairs, self.steps, self.is_told = [], 0, False

    def before_step(self, optimizer):
        self.steps += 1
        if self.steps in SEARCHES:
            self._search()
        for pair in self.pairs:
            pair.look()
            if pair.fast >= STEPS and not self.is_told:
                self.is_told = True
                self.report(
                    f"a network that follows a {pair.name} takes {pair.share:.3g} of itself from "
                    f"it at each of {STEPS} steps: as an average it hardly remembers (are decay "
                    "and 1 - decay swapped?)",
                    api="torch.optim.swa_utils.AveragedModel",
                )
        self.pairs = [pair for pair in self.pairs if pair.looks < LOOKS]

    def _search(self):
        """Find networks that are not trained, beside one of the same shapes that is."""
        optimizers = self.program.optimizers()
        held = {id(member) for owner in optimizers for member in list_parameters(owner)}
        trained, still = {}, {}
        for module in list_modules():
            parameters = list(module.parameters())
            if not all(map(has_numbers, parameters)):
                continue
            members = [id(parameter) in held for parameter in parameters]
            shapes = type(module), tuple(parameter.shape for parameter in parameters)
            if parameters and all(members):
                trained.setdefault(shapes, []).append(module)
            elif parameters and not any(members):
                still.setdefault(shapes, []).append(module)
        pairs = [
            Pair(average, source)
            for shapes, averages in still.items()
            for average in averages
            for source in trained.get(shapes, ())
        ]
        # Parts of networks follow as these do.
        pairs.sort(key=lambda pair: pair.size, reverse=True)
        self.pairs = (self.pairs + pairs)[:PAIRS]


def list_modules():
    """All live modules. A copy is told of by nothing before it is called."""
    return [value for value in gc.get_objects() if issubclass(type(value), torch.nn.Module)]


class Pair:
    """A network that is not trained, and one that is; and in how many looks in a row the first was
    nearly the second, and had come from where it was before.
    """

    def __init__(self, average, source):
        self.average, self.source = weakref.ref(average), weakref.ref(source)
        self.name, self.before = type(source).__name__, None
        self.size = sum(parameter.numel() for parameter in source.parameters())
        self.looks = self.fast = 0
        self.share = 0.0

    def look(self):
        average, source = self.average(), self.source()
        self.looks += 1
        if average is None or source is None:
            self.looks = LOOKS
            return
        now, newest, before = take_numbers(average), take_numbers(source), self.before
        self.before = now
        if before is None or before.shape != now.shape or newest.shape != now.shape:
            return
        self.share = find_share(before, now, newest)
        self.fast = self.fast + 1 if SHARE < self.share < 1 else 0


def has_numbers(parameter):
    """Whether a parameter has numbers in memory."""
    return not torch.nn.parameter.is_lazy(parameter) and not parameter.is_meta


def take_numbers(module):
    """Some of the weights."""
    with torch.no_grad():
        tensors = [parameter for parameter in module.parameters() if parameter.is_floating_point()]
        parts = [tensor.detach().reshape(-1)[:NUMBERS] for tensor in tensors[-TENSORS:]]
        return torch.cat([part.double().cpu() for part in parts]) if parts else torch.zeros(0)


def find_share(before, now, newest):
    """How far an average has gone from where it was to the newest weights; 0 where it has gone
    elsewhere, or is equal to them.
    """
    way, gone = newest - before, now - before
    length = float(way @ way)
    if not length or not torch.isfinite(now).all() or bool((now == newest).all()):
        return 0.0
    share = float(gone @ way) / length
    return share if float((gone - share * way).norm()) <= ROUNDING * length**0.5 else 0.0
