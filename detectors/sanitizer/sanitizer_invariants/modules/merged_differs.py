"""A network whose weights are merged computes what it computed."""

import weakref

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, is_sampled
from sanitizer_invariants.tools.merging import is_of_torch, watch_functions, watch_methods

ROWS, SCANS = 2, 20
PLAIN = (type(None), bool, int, float, str)
HALF = (torch.float16, torch.bfloat16)


class MergedDiffers(Invariant):
    """What merges, fuses or folds weights of a network leaves the function that it computes.

    Why: an adapter is merged into its layer, a normalisation is folded into its convolution, and
    branches into one kernel, so that the same is computed in fewer steps. A scale or a bias that is
    forgotten, a matrix that is not transposed, a layer that is folded into one it does not follow:
    the network goes on to work, a little worse.

    By name: methods of modules that need no argument, functions of the program that are given one
    module, and torch's `fuse_modules`. Copies of the network are called in evaluation mode, before
    and after, with two samples of an earlier call.

    Excepted: what is called with more than a module and switches, as with a scale or with names;
    what is called inside of a network; what is loaded or brought back to the old function before
    the network is used again; outputs that are drawn at random or have other shapes, and quantised
    weights. Rounding: a hundredth of the output, and a twentieth in half precision.

    Cost: copies of two samples at the first three calls of a network and then at each 100th; five
    copies and calls of it for each of the first five merges, and then for each 50th.
    """

    NAME, LIGHT = "merged-differs", False
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.inputs = IdentityTable(), IdentityTable()
        self.pending, self.current = IdentityTable(), None
        self.is_inside, self.merges, self.scans = False, 0, 0

    def before_forward(self, module, arguments, options):
        self.is_inside = True
        module = copies.unwrap(module)
        self._look_again(module)
        self.calls[module] = self.calls.get(module, 0) + 1
        if is_sampled(self.calls[module], 100, first=3) and any(True for _ in module.parameters()):
            self.scans += 1
            if self.scans <= SCANS:
                watch_functions()
            watch_methods(module)
            values = shorten((arguments, options))
            if values is not None:
                self.inputs[module] = values

    def after_forward(self, module, arguments, options, output):
        self.is_inside = False

    def before_merge(self, module, function):
        self.current = None
        owner = None if self.is_inside else self._find_owner(module)
        if owner is None:
            return
        self.merges += 1
        if is_sampled(self.merges, 50):
            output = self._answer(owner, self.inputs[owner])
            if output is not None:
                self.current = Merge(owner, self.inputs[owner], output, function)
                self.current.where = self.program.here()
                self.current.is_whole = owner is module or self._is_whole(module, self.current)

    def after_merge(self, module, result):
        merge, self.current = self.current, None
        owner = merge and merge.owner()
        if owner is None:
            return
        is_new = isinstance(result, torch.nn.Module) and result is not module
        if is_new and not merge.is_whole:
            return
        subject = result if is_new else owner
        if subject not in self.pending and self._differs(subject, merge):
            self.pending[subject] = merge

    def after_state(self, module, state):
        if self.current is None:
            self._look_again(copies.unwrap(module))

    def before_load(self, loaded, state):
        self.pending.clear()

    def end(self):
        for module in list(self.pending):
            self._look_again(module)

    def _find_owner(self, module):
        """A network whose inputs are known: the module itself, or one that it is a part of."""
        if module in self.inputs:
            return module
        for owner in list(self.inputs):
            if any(part is module for part in owner.modules()):
                return owner
        return None

    def _is_whole(self, module, merge):
        """Whether a part does all that its network does: the network only wraps it."""
        others = set(merge.owner().parameters()) - set(module.parameters())
        output = None if others else self._answer(module, merge.inputs)
        return output is not None and copies.are_identical(merge.output, output)

    def _look_again(self, module):
        """At a network that is used after a merge that has changed it."""
        merge = self.pending.pop(module, None)
        if merge is None:
            return
        difference = self._differs(module, merge)
        if difference:
            self.report(
                f"`{merge.name}` is to leave the {type(module).__name__} what it computes, and in "
                f"evaluation mode its output moves by {difference:.0%} for the same input",
                api=merge.api,
                where=merge.where,
            )

    def _differs(self, module, merge):
        output = self._answer(module, merge.inputs)
        return 0 if output is None else compare(merge.output, output)

    def _answer(self, module, inputs):
        """What a copy in evaluation mode gives; None where it cannot be called, or draws."""
        if any(is_quantised(part) for part in module.modules()):
            return None
        duplicates = copies.duplicate_all(module, inputs)
        return duplicates and copies.attempt(self.program, call, *duplicates)


class Merge:
    """A call of a function that merges, with what the network gave before."""

    def __init__(self, owner, inputs, output, function):
        self.owner, self.inputs, self.output = weakref.ref(owner), inputs, output
        self.name, self.where, self.is_whole = function.__name__, None, False
        self.api = f"torch.ao.quantization.{self.name}" if is_of_torch(function) else None


def shorten(value):
    """Nested values with a copy of the first samples of each tensor; None where there is anything
    else.
    """
    first = next(iter(copies.list_tensors(value)), None)
    size = len(first) if first is not None and first.dim() else None

    def copy(item):
        if isinstance(item, torch.Tensor):
            if item.layout != torch.strided or item.is_meta:
                raise TypeError
            is_batch = item.dim() > 0 and len(item) == size
            return (item[:ROWS] if is_batch else item).detach().clone()
        if type(item) is dict:
            return {key: copy(element) for key, element in item.items()}
        if type(item) in (list, tuple):
            return type(item)(copy(element) for element in item)
        if not isinstance(item, PLAIN):
            raise TypeError
        return item

    try:
        return None if first is None else copy(value)
    except TypeError:
        return None


def call(module, inputs):
    """The floating-point outputs in evaluation mode; None where they are drawn."""
    arguments, options = inputs
    for part in module.modules():
        part.training = False
    outputs = []
    with torch.inference_mode(False), torch.no_grad():
        for seed in range(2):
            torch.manual_seed(seed)
            outputs.append(copies.list_tensors(module(*arguments, **options)))
    if not copies.are_identical(*outputs):
        return None
    return [tensor for tensor in outputs[0] if tensor.is_floating_point()]


def compare(before, after):
    """By how much outputs of the same shapes differ, relative to them; 0 where it is rounding."""
    if [tensor.shape for tensor in before] != [tensor.shape for tensor in after]:
        return 0
    differences = [0]
    for first, second in zip(before, after):  # noqa: B905
        difference = copies.relative_difference(first, second)
        is_half = first.dtype in HALF or second.dtype in HALF
        if difference > (0.05 if is_half else 0.01):
            differences.append(difference)
    return max(differences)


def is_quantised(part):
    """Whether weights of a module are no floating-point numbers."""
    weights = part._parameters.values()
    is_whole = any(item is not None and not item.is_floating_point() for item in weights)
    return is_whole or ".quantized" in type(part).__module__
