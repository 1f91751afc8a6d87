"""What is evaluated is not augmented as in training."""

import dis
import random
import sys
import types
import weakref

import torch
from torch.utils.data import Subset

from sanitizer_invariants.data.copied_generator import CALLS, find_generators, list_holders
from sanitizer_invariants.tools import copies, side_effects
from sanitizer_invariants.tools.datasets import find_definitions, list_names_in
from sanitizer_invariants.tools.identity import IdentitySet
from sanitizer_invariants.tools.invariant import Invariant

SAMPLES, SEEDS = 4, (1, 2, 1)
# By these names code changes what it is given.
CHANGING = {"append", "add", "insert", "update", "setdefault", "pop", "popitem", "extend", "write"}


class RandomEvaluation(Invariant):
    """A validation set that is split off a training set does not inherit its augmentation.

    Why: random crops, flips and noise make more of the training data. The transform belongs to the
    dataset under both parts of a split. So the validation is of inputs that are changed at random:
    its numbers are worse than the model, and vary from epoch to epoch.

    Of loaders over a `Subset`, evaluated in evaluation mode and without gradients, after a training
    on another `Subset` of the same dataset. Four samples are fetched three times. An input of
    floating point differs with the random state, and is the same for the same one; its label, a
    whole number, stays.

    Excepted: datasets of the evaluation alone; targets that are no whole numbers, as of a network
    that removes noise; datasets whose code may change anything, by what it stores, adds or writes.

    Cost: twelve samples, once for each loader.
    """

    NAME, LIGHT = "random-evaluation", False
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.current = None
        self.trained, self.looked_at = IdentitySet(), IdentitySet()

    def after_batch(self, loader, batch):
        self.current = None if loader is None else weakref.ref(loader)

    def before_backward(self, tensors):
        loader = self.current and self.current()
        if loader is not None:
            self.trained.add(loader)

    def before_forward(self, module, arguments, options):
        loader = self.current and self.current()
        if loader is None or module.training or torch.is_grad_enabled():
            return
        if loader in self.trained or loader in self.looked_at:
            return
        root = find_root(loader)
        if root is None or all(find_root(other) is not root for other in self.trained):
            return
        self.looked_at.add(loader)
        if not changes_anything(root):
            self._try(loader.dataset)

    def _try(self, part):
        size = min(SAMPLES, len(part))
        changed = [copies.attempt(self.program, is_augmented, part, place) for place in range(size)]
        if size and all(changed):
            self.report(
                f"{size} of {size} samples that are evaluated are changed at random: the split has "
                "the transform of the training",
                api="torch.utils.data.random_split",
            )


def find_root(loader):
    """The dataset under a part; None where a loader is over a whole one."""
    dataset = loader.dataset
    if type(dataset) is not Subset:
        return None
    while type(dataset) is Subset:
        dataset = dataset.dataset
    return dataset


def changes_anything(dataset):
    """Whether the code that makes samples may leave a trace, as far as its text tells."""
    if find_generators(dataset):
        return True
    functions = list_functions(dataset)
    return len(functions) > side_effects.FUNCTIONS or any(map(may_leave_trace, functions))


def list_functions(dataset):
    """The functions that make samples, and those that they name, without torch's."""
    holders = list_holders(dataset)
    waiting = find_definitions([type(holder) for holder in holders], CALLS)
    waiting += [holder for holder in holders if isinstance(holder, types.FunctionType)]
    functions = []
    for function in waiting:
        if function not in functions and not side_effects.is_of_torch(function):
            functions.append(function)
            waiting += filter(is_function, list_named(function))
        if len(functions) > side_effects.FUNCTIONS:
            break
    return functions


def list_named(function):
    """What a function names: of its globals, and of its closure."""
    values = [
        value
        for name, value in function.__globals__.items()
        if name in list_names_in(function.__code__)
    ]
    cells = filter(side_effects.is_set, function.__closure__ or ())
    return values + [cell.cell_contents for cell in cells]


def is_function(value):
    return isinstance(value, types.FunctionType)


def may_leave_trace(function):
    """Whether a function stores, changes, or names something that can change."""
    names = list_names_in(function.__code__)
    in_place = any(name.endswith("_") and not name.endswith("__") for name in names)
    is_harmless = all(isinstance(value, side_effects.HARMLESS) for value in list_named(function))
    return in_place or bool(names & CHANGING) or not is_harmless or stores(function.__code__)


def stores(code):
    """Whether code stores in an attribute, a global name or an item, or computes in place."""
    if side_effects.stores_anything(code):
        return True
    for nested in side_effects.list_code_objects(code):
        for instruction in dis.get_instructions(nested):
            is_in_place = instruction.opname.startswith("INPLACE_") or (
                instruction.opname == "BINARY_OP" and instruction.argrepr.endswith("=")
            )
            if is_in_place or instruction.opname == "STORE_SUBSCR":
                return True
    return False


def is_augmented(part, place):
    """Whether the input of a sample differs with the random state, and nothing else does."""
    first, other, again = [fetch(part, place, seed) for seed in SEEDS]
    if None in (first, other, again) or first[1] != other[1]:
        return False
    is_changed = not copies.are_identical(first[0], other[0])
    return is_changed and copies.are_identical(first[0], again[0])


def fetch(part, place, seed):
    """The input and the label of a sample, made by random numbers of this seed, or None."""
    numpy = sys.modules.get("numpy")
    random.seed(seed)
    torch.manual_seed(seed)
    if numpy is not None:
        numpy.random.seed(seed)
    sample = part[place]
    if not isinstance(sample, (tuple, list)) or len(sample) != 2:
        return None
    image, label = sample
    if not isinstance(image, torch.Tensor) or not image.is_floating_point():
        return None
    if isinstance(label, torch.Tensor) and label.numel() == 1 and not label.is_floating_point():
        label = label.item()
    return (image, label) if isinstance(label, int) else None
