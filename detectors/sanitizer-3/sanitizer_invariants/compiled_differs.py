"""What is compiled gives what it gives uncompiled."""

import types
import weakref

import torch
from torch import nn
from torch._dynamo.eval_frame import OptimizedModule

from sanitizer_invariants import twins
from sanitizer_invariants.base import Invariant, sampled

PLAIN = (type(None), bool, int, float, complex, str, bytes, type, torch.dtype, torch.device)
CALLED = (types.ModuleType, types.BuiltinFunctionType)

TRIES = 8


class CompiledDiffers(Invariant):
    """A call of a compiled function or module gives the same numbers as the uncompiled one, and changes the same ones.

    Why: a compiler decides how numbers are computed, not which.

    Compared are floating-point outputs, and arguments, parameters, buffers and gradients after the call. Rounding: the
    difference is beyond half of the digits of the type, relative to the norm, and the compiled numbers are more than
    ten times as far from those of double precision as the uncompiled ones.

    Excepted: what draws random numbers, does not repeat itself or fails in double precision; numbers that are not
    finite; numbers that jump (a choice among experts, rounding): where the difference is not ten times that which comes
    from changing each number that goes in by a tenth of what is taken for rounding, in one of eight tries. One near-tie
    falls to the same side in all of them once in 256 times. Only copies are called: what uses more than tensors,
    modules and plain values (optimizers, other objects), or is given tensors that share memory, is left out.

    Cost: four copies, and three calls of the uncompiled code on them, for the first five calls and then for each 100th;
    eight more where there is a difference.
    """

    NAME, LIGHT = "compiled-differs", False

    def __init__(self, program, report):
        super().__init__(program, report)
        self.functions, self.modules, self.expected = {}, weakref.WeakKeyDictionary(), None

    def before_compiled(self, function, arguments, options):
        code = getattr(function, "__func__", function).__code__
        self.functions[code] = self.functions.get(code, 0) + 1
        self.expected = None
        held = captured(function) if sampled(self.functions[code], 100) else None
        if held is not None:
            self._expect(lambda copy: rebuilt(function, copy), held, arguments, options)

    def after_compiled(self, function, arguments, options, result):
        self._compare(result)

    def before_forward(self, module, arguments, options):
        if not isinstance(module, OptimizedModule):
            return
        self.modules[module] = self.modules.get(module, 0) + 1
        self.expected = None
        if sampled(self.modules[module], 100) and isinstance(twins.bare(module), nn.Module):
            self._expect(lambda copy: copy["module"], {"module": twins.bare(module)}, arguments, options)

    def after_forward(self, module, arguments, options, output):
        if isinstance(module, OptimizedModule):
            self._compare(output)

    def _expect(self, build, held, arguments, options):
        """What the uncompiled code gives, in two precisions, if it can be called and repeats itself."""
        given = held, arguments, options
        if twins.is_distributed() or share_memory(numbers(given)):
            return
        *copies, spare = [copied(given) for _ in range(4)]
        if None in (*copies, spare):
            return
        results = twins.attempted(self.program, uncompiled, build, copies)
        if results is not None:
            self.expected = given, *results, (build, spare)

    def _compare(self, result):
        expected, self.expected = self.expected, None
        if expected is None:
            return
        given, plain, exact, again = expected
        actual = numbers((result, given))
        if [each.shape for each in actual] != [each.shape for each in plain]:
            return
        found = [number for number, each in enumerate(zip(actual, plain, exact)) if differ(*each)]  # noqa: B905
        jumps = twins.attempted(self.program, jumped, *again, plain) if found else None
        if jumps and any(twins.difference(actual[one], plain[one]) > 10 * jumps[one] for one in found):
            self.report(
                "compiled, this gives other numbers than uncompiled: the difference is more than rounding",
                api="torch.compile",
            )


def uncompiled(build, copies):
    """All numbers after calls on the first and the last copies; None where the call is no function of what is given."""
    before, found = twins.generators(), []
    for copy, is_exact in zip(copies, (False, False, True)):  # noqa: B905
        held, arguments, options = in_double(copy) if is_exact else copy
        result = build(held)(*arguments, **options)
        found.append(numbers((result, (held, arguments, options))))
    is_same = twins.identical(before, twins.generators()) and twins.identical(found[0], found[1])
    return (found[0], found[2]) if is_same and len(found[0]) == len(found[2]) else None


def jumped(build, given, plain):
    """By how much numbers change at most where those that go in change by a little."""
    found = [0.0] * len(plain)
    for _ in range(TRIES):
        held, arguments, options = changed = copied(given)
        change(numbers(changed))
        result = numbers((build(held)(*arguments, **options), changed))
        found = [max(before, twins.difference(*pair)) for before, *pair in zip(found, result, plain)]  # noqa: B905
    return found


def change(tensors):
    with torch.no_grad():
        for each in tensors:
            if each.is_floating_point():
                each.mul_(1 + rounding(each) / 10 * torch.randn_like(each))


def rounding(tensor):
    """What may come of rounding: half of the digits of the type."""
    return torch.finfo(tensor.dtype).eps ** 0.5


def differ(actual, plain, exact):
    if not plain.is_floating_point() or actual.dtype != plain.dtype or not plain.numel():
        return False
    if twins.difference(actual, plain) <= rounding(plain):
        return False
    return twins.difference(actual, exact) > 10 * twins.difference(plain, exact) + rounding(plain)


def numbers(value):
    """The tensors in nested values, those of modules and all gradients among them."""
    found = []
    for each in twins.leaves(opened(value)):
        found += [each] if each.grad_fn is not None or each.grad is None else [each, each.grad]
    return found


def opened(value):
    """Nested values with the parameters and buffers of modules in their place."""
    if isinstance(value, nn.Module):
        return [*value.parameters(), *value.buffers()]
    if isinstance(value, dict):
        return [opened(each) for each in value.values()]
    return [opened(each) for each in value] if isinstance(value, (list, tuple)) else value


def share_memory(tensors):
    places = {id(each): each for each in tensors if each.layout == torch.strided and each.numel()}
    return len({each.untyped_storage().data_ptr() for each in places.values()}) < len(places)


def copied(given):
    """A deep copy of what is captured and given, or None."""
    held, arguments, options = given
    found = twins.copied(nn.ModuleList(modules(list(held.values()))), held, arguments, options)
    return found and found[1:]


def modules(values):
    return [each for each in values if isinstance(each, nn.Module)]


def in_double(value):
    if isinstance(value, nn.Module):
        return value.double()
    if isinstance(value, torch.Tensor):
        return value.double() if value.is_floating_point() else value
    if isinstance(value, dict):
        return {key: in_double(each) for key, each in value.items()}
    return type(value)(in_double(each) for each in value) if type(value) in (list, tuple) else value


def captured(function, depth=3):
    """What a function uses besides its arguments, by name; None where that cannot be copied."""
    if isinstance(function, types.MethodType):
        return None
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))  # noqa: B905
    found = {}
    for name in names(function.__code__):
        value = cells[name].cell_contents if name in cells else function.__globals__.get(name)
        if isinstance(value, (nn.Module, torch.Tensor)):
            found[name] = value
        elif not is_plain(value, depth):
            return None
    return found


def names(code):
    """The names that a function and those inside of it use, attributes among them."""
    inner = [names(each) for each in code.co_consts if isinstance(each, types.CodeType)]
    return {*code.co_names, *code.co_freevars}.union(*inner)


def is_plain(value, depth):
    """Whether nothing can be changed by a use of the value."""
    if isinstance(value, types.FunctionType):
        is_torch = (value.__module__ or "").startswith("torch")
        return is_torch or (depth > 0 and captured(value, depth - 1) == {})
    if isinstance(value, (tuple, frozenset)):
        return all(is_plain(each, depth) for each in value)
    return isinstance(value, PLAIN + CALLED) or type(value).__module__.startswith(("torch._C", "builtins.builtin"))


def rebuilt(function, held):
    """The function, with other values in the place of those that it has captured."""
    cells = [
        types.CellType(held[name]) if name in held else cell
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ())  # noqa: B905
    ]
    used = {**function.__globals__, **held}
    found = types.FunctionType(function.__code__, used, function.__name__, function.__defaults__, tuple(cells))
    found.__kwdefaults__ = function.__kwdefaults__
    return found
