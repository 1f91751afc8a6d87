"""The gradients of a function are its derivatives."""

import dis

import torch

from sanitizer_invariants.tools import copies, side_effects
from sanitizer_invariants.tools.invariant import Invariant

CALLS, NUMBERS, DIRECTIONS = 3, 2**18, 4
# Relative sizes of a step for double and single precision.
DISTANCES = {torch.float64: 1e-6, torch.float32: 1e-2}
WRONG, SMOOTH, FLAT, CLOSE = 0.2, 0.05, 1e-3, 0.05
# Where values are larger a gradient may be cut on purpose.
LARGEST = 1e6
SIMPLE = (
    type(None), bool, int, float, complex, str, bytes, type, torch.dtype, torch.device,
)  # fmt: skip


class WrongBackward(Invariant):
    """`backward` of a function of the program's own gives the derivative of its `forward`.

    Why: gradients are derivatives. Who writes both by hand may forget a factor, a term or a sign,
    and training still goes somewhere.

    Compared are the slopes along four random directions for each input, in double precision if
    `forward` takes it: the one by `backward`, and the one by two calls of `forward` on both sides.
    Wrong is a difference of over a fifth.

    Excepted, since they give another gradient on purpose: functions whose output is an input
    (reversal, scaling or clipping of gradients, codebooks), that are flat or jump along some input
    (straight-through estimators, spikes, rounding) or give `None` for it, also where the input has
    no gradients; that leave some numbers of an input as they are, and hand on the gradient or
    nothing for each (clamping, pruning); outputs beyond a million; and what keeps something
    elsewhere, has side effects, is given more than tensors and plain values or cannot be called
    again. Matrices that are symmetric go on to be.

    Cost: for the first three calls of a function some twenty more calls of it, on copies.
    """

    NAME, LIGHT = "wrong-backward", False
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls = {}

    def after_function(self, function, arguments, result):
        count = self.calls.get(function, 0) + 1
        if count > CALLS or copies.is_distributed():
            return
        # A function, or a module, would be the program's own.
        if not all(map(is_known, arguments)):
            return
        self.calls[function] = count
        tensors = copies.list_tensors(arguments)
        if sum(tensor.numel() for tensor in tensors) > NUMBERS or not all(map(is_plain, tensors)):
            return
        if may_keep_something(function) or returns_an_input(tensors, result):
            return
        wrong = copies.attempt(self.program, compare, function, arguments)
        if wrong is None:
            return
        place, slope, expected = wrong
        self.report(
            f"backward of {function.__name__} gives a slope of {slope:.4g} along a direction of "
            f"its argument {place + 1}, where the values of forward have {expected:.4g}",
            api=f"{function.__name__}.backward",
        )


def is_known(value):
    """Whether a copy of an argument can stand for it."""
    if type(value) in (tuple, torch.Size):
        return all(isinstance(item, SIMPLE) for item in value)
    return isinstance(value, (torch.Tensor, *SIMPLE))


def is_plain(tensor):
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.layout == torch.strided
        and not tensor.is_meta
        and not tensor.is_complex()
    )


def returns_an_input(tensors, result):
    """Whether an output has the numbers of an input."""
    outputs = copies.list_tensors(result)
    return any(
        output.numel() == tensor.numel()
        and torch.equal(output.detach().flatten().double(), tensor.detach().flatten().double())
        for output in outputs
        for tensor in tensors
    )


def may_keep_something(function):
    """Whether `forward` or `backward` write anywhere but into their context."""
    for method in (function.forward, function.backward):
        code = getattr(method, "__code__", None)
        if code is None or not writes_into_its_context(code):
            return True
        for value in side_effects.find_objects(method, object):
            if not isinstance(value, side_effects.HARMLESS):
                return True
    return False


def writes_into_its_context(code):
    """Whether attributes are set of the first argument alone, and no globals."""
    context = code.co_varnames[0] if code.co_argcount else None
    last = None
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF"):
            return False
        if instruction.opname == "STORE_ATTR" and (last is None or last != context):
            return False
        # From Python 3.13 on one instruction may load two names.
        names = instruction.argval
        last = names[-1] if isinstance(names, tuple) and names else names
    return True


def compare(function, arguments):
    """The argument whose slopes are wrong, with the slope by `backward` and the right one; or
    None.
    """
    for dtype in (torch.float64, torch.float32):
        try:
            trial = FunctionTrial(function, arguments, dtype)
            return trial.find_wrong()
        except (RuntimeError, TypeError, ValueError):
            continue
    return None


class FunctionTrial:
    """A function on copies of its arguments, in one precision."""

    def __init__(self, function, arguments, dtype):
        self.function, self.dtype = function, dtype
        self.arguments = [self._copied(value) for value in arguments]
        self.places = [
            place
            for place, value in enumerate(self.arguments)
            if isinstance(value, torch.Tensor) and value.is_floating_point()
        ]
        self.generator = torch.Generator().manual_seed(0)

    def _copied(self, value):
        if not isinstance(value, torch.Tensor):
            return value
        copied = value.detach().clone()
        if not value.is_floating_point():
            return copied
        return copied.to(self.dtype).requires_grad_(value.requires_grad)

    def call(self, arguments):
        """The outputs that have gradients; the same random numbers each time."""
        torch.manual_seed(0)
        # What a function writes into its arguments has to be its own.
        inputs = [
            value.clone() if isinstance(value, torch.Tensor) else value for value in arguments
        ]
        result = self.function.apply(*inputs)
        outputs = result if isinstance(result, tuple) else (result,)
        return [
            output
            for output in outputs
            if isinstance(output, torch.Tensor) and output.is_floating_point()
        ]

    def find_wrong(self):
        with torch.enable_grad():
            outputs = self.call(self.arguments)
            if any(map(is_whole_or_large, outputs)):
                return None
            weights = [self._weight_of(output) for output in outputs]
            total = self._total(outputs, weights)
            leaves = [self.arguments[place] for place in self.places]
            trained = [leaf for leaf in leaves if leaf.requires_grad]
            slopes_by_backward = torch.autograd.grad(total, trained, allow_unused=True)
            gradients = dict(zip(map(id, trained), slopes_by_backward))  # noqa: B905
        worst = None
        for place, leaf in zip(self.places, leaves):  # noqa: B905
            gradient = gradients.get(id(leaf))
            if gradient is None and leaf.requires_grad:
                return None
            passed = (self.arguments[place], gradient, outputs, weights)
            if gradient is not None and passes_through(*passed):
                return None
            slopes = [self._slopes(place, gradient, weights) for _ in range(DIRECTIONS)]
            # Of what has no gradient now it counts, too: straight-through for the other argument.
            if is_flat_or_jumps(slopes):
                return None
            if worst is None and leaf.requires_grad and are_wrong(slopes):
                slope, expected, _ = max(slopes, key=lambda triple: abs(triple[0] - triple[1]))
                worst = place, slope, expected
        return worst

    def _weight_of(self, output):
        """What the gradient of a sum weighs an output with: a single number by 1, as losses are."""
        if output.numel() == 1:
            return torch.ones_like(output)
        drawn = torch.randn(output.shape, generator=self.generator, dtype=torch.float64)
        return drawn.to(output.dtype).to(output.device)

    def _total(self, outputs, weights):
        return sum((output * weight).sum() for output, weight in zip(outputs, weights))  # noqa: B905

    def _slopes(self, place, gradient, weights):
        """The slope by `backward`, and by values at a distance and at half of it."""
        start = self.arguments[place].detach()
        drawn = torch.randn(start.shape, generator=self.generator, dtype=torch.float64)
        if is_symmetric(start):
            drawn = drawn + drawn.mT
        direction = (drawn / drawn.norm()).to(start.dtype).to(start.device)
        slope = 0.0 if gradient is None else (gradient * direction).sum().item()
        size = max(start.norm().item(), 1e-3)
        distance = DISTANCES[self.dtype] * size
        measured = [
            self._measure(place, direction, step, weights) for step in (distance, distance / 2)
        ]
        return (slope, *measured)

    def _measure(self, place, direction, step, weights):
        start, totals = self.arguments[place].detach(), []
        for sign in (1, -1):
            moved = list(self.arguments)
            moved[place] = start + sign * step * direction
            with torch.no_grad():
                totals.append(self._total(self.call(moved), weights).item())
        return (totals[0] - totals[1]) / (2 * step)


def is_whole_or_large(output):
    """Whether an output is rounded, as spikes are, or so large that gradients are cut."""
    values = output.detach()
    if not values.numel():
        return False
    is_rounded = values.numel() > 1 and bool((values == values.round()).all())
    return is_rounded or bool((values.abs() > LARGEST).any())


def passes_through(value, gradient, outputs, weights):
    """Whether some numbers of an input are an output, and `backward` hands on the gradient of each
    number, or nothing.
    """
    for output, weight in zip(outputs, weights):  # noqa: B905
        if output.shape != value.shape or not bool((output == value).any()):
            continue
        handed_on = weight * (gradient / weight).round().clamp(0, 1)
        if bool((gradient - handed_on).norm() <= CLOSE * weight.norm()):
            return True
    return False


def is_symmetric(tensor):
    is_square = tensor.dim() > 1 and tensor.shape[-1] == tensor.shape[-2] > 1
    return is_square and torch.allclose(tensor, tensor.mT)


def is_flat_or_jumps(slopes):
    """Whether values do not change along an argument, or change by jumps."""
    size = sum(expected**2 for _, expected, _ in slopes) ** 0.5
    by_backward = sum(slope**2 for slope, _, _ in slopes) ** 0.5
    roughness = sum((first - second) ** 2 for _, first, second in slopes) ** 0.5
    if not all(map(is_finite, (size, by_backward, roughness))):
        return True
    return size <= FLAT * by_backward or size == 0 or roughness > SMOOTH * size


def is_finite(number):
    return abs(number) < float("inf")


def are_wrong(slopes):
    size = sum(expected**2 for _, expected, _ in slopes) ** 0.5
    error = sum((slope - expected) ** 2 for slope, expected, _ in slopes) ** 0.5
    return error > WRONG * size
