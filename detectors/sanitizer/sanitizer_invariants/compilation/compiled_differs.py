"""What is compiled gives what it gives uncompiled."""

import types

import torch
from torch import nn
from torch._dynamo.eval_frame import OptimizedModule

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, is_sampled

PLAIN = (type(None), bool, int, float, complex, str, bytes, type, torch.dtype, torch.device)
CALLED = (types.ModuleType, types.BuiltinFunctionType)

TRIES = 8
# What errors about values say, and what errors say that come of having copied tensors.
VALUE_WORDS = ("value", "between", "range", "bound", "index", "assert", "negative", "expected")
COPY_WORDS = ("grad", "inference", "leaf", "graph", "dtype", "device", "version")


class CompiledDiffers(Invariant):
    """A call of a compiled function or module gives the same numbers as the uncompiled one,
    changes the same ones, and refuses the same ones.

    Why: a compiler decides how numbers are computed, not which. A check of inputs that it leaves
    out lets wrong labels through.

    Compared are floating-point outputs, and arguments, parameters, buffers and gradients after the
    call. Rounding: the difference is beyond half of the digits of the type, relative to the norm,
    and the compiled numbers are more than ten times as far from those of double precision as the
    uncompiled ones.

    Excepted: what draws random numbers, does not repeat itself or fails in double precision;
    numbers that are not finite; numbers that jump (a choice among experts, rounding): where the
    difference is not ten times that which comes from changing each number that goes in by a tenth
    of what is taken for rounding, in one of eight tries. One near-tie falls to the same side in all
    of them once in 256 times. Errors count that name a value, an index or an assertion, twice the
    same. Only copies are called: what uses more than tensors, modules and
    plain values (optimizers, other objects), or is given tensors that share memory, is left out.

    Cost: four copies, and three calls of the uncompiled code on them, for the first five calls and
    then for each 100th; eight more where there is a difference.
    """

    NAME, LIGHT = "compiled-differs", False
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.functions, self.modules, self.expected = {}, IdentityTable(), None
        self.refusal = None

    def before_compiled(self, function, arguments, options):
        code = getattr(function, "__func__", function).__code__
        self.functions[code] = self.functions.get(code, 0) + 1
        self.expected, self.refusal = None, None
        held = find_captured(function) if is_sampled(self.functions[code], 100) else None
        if held is not None:
            self._expect(lambda copy: rebuild(function, copy), held, arguments, options)

    def after_compiled(self, function, arguments, options, result):
        self._compare(result)

    def before_forward(self, module, arguments, options):
        if not isinstance(module, OptimizedModule):
            return
        self.modules[module] = self.modules.get(module, 0) + 1
        self.expected, self.refusal = None, None
        if is_sampled(self.modules[module], 100) and isinstance(copies.unwrap(module), nn.Module):
            self._expect(
                lambda copy: copy["module"], {"module": copies.unwrap(module)}, arguments, options
            )

    def after_forward(self, module, arguments, options, output):
        if isinstance(module, OptimizedModule):
            self._compare(output)

    def _expect(self, build, held, arguments, options):
        """What the uncompiled code gives, in two precisions,
        if it can be called and repeats itself.
        """
        inputs = held, arguments, options
        if copies.is_distributed() or share_memory(list_numbers(inputs)):
            return
        *duplicates, spare = [duplicate_inputs(inputs) for _ in range(4)]
        if None in (*duplicates, spare):
            return
        results = copies.attempt(self.program, run_uncompiled, build, duplicates)
        if results is not None:
            self.expected = inputs, *results, (build, spare)
            return
        again = [duplicate_inputs(inputs) for _ in range(2)]
        parts = [part for module in list_modules(list(held.values())) for part in module.modules()]
        # What a class leaves out of a copy may be what the copy fails for.
        if None not in again and not any(map(copies.saves_itself, parts)):
            self.refusal = copies.attempt(self.program, find_refusal, build, again)

    def _compare(self, result):
        expected, self.expected = self.expected, None
        if self.refusal is not None:
            self.report(
                f"compiled, this takes what it refuses uncompiled: {self.refusal}",
                api="torch.compile",
            )
        if expected is None:
            return
        inputs, plain, exact, again = expected
        actual = list_numbers((result, inputs))
        if [values.shape for values in actual] != [values.shape for values in plain]:
            return
        triples = enumerate(zip(actual, plain, exact))  # noqa: B905
        differing = [number for number, values in triples if differ(*values)]
        jumps = copies.attempt(self.program, measure_jumps, *again, plain) if differing else None
        if jumps and any(
            copies.relative_difference(actual[place], plain[place]) > 10 * jumps[place]
            for place in differing
        ):
            self.report(
                "compiled, this gives other numbers than uncompiled: the difference is more than "
                "rounding",
                api="torch.compile",
            )


def run_uncompiled(build, duplicates):
    """All numbers after calls on the first and the last copies;
    None where the call is no function of what is given.
    """
    before, results = copies.generator_states(), []
    for copy, is_exact in zip(duplicates, (False, False, True)):  # noqa: B905
        held, arguments, options = in_double(copy) if is_exact else copy
        result = build(held)(*arguments, **options)
        results.append(list_numbers((result, (held, arguments, options))))
    is_same = copies.are_identical(before, copies.generator_states()) and copies.are_identical(
        results[0], results[1]
    )
    return (results[0], results[2]) if is_same and len(results[0]) == len(results[2]) else None


def find_refusal(build, duplicates):
    """What uncompiled code says of a value that it refuses, where it says it of both copies;
    or None.
    """
    messages = []
    for held, arguments, options in duplicates:
        try:
            build(held)(*arguments, **options)
        except (RuntimeError, ValueError, IndexError, AssertionError) as error:
            messages.append(str(error).partition("\n")[0])
        else:
            return None
    first, second = messages
    is_of_values = any(word in first.lower() for word in VALUE_WORDS)
    is_of_copies = any(word in first.lower() for word in COPY_WORDS)
    return first if first == second and is_of_values and not is_of_copies else None


def measure_jumps(build, inputs, plain):
    """By how much numbers change at most where those that go in change by a little."""
    differences = [0.0] * len(plain)
    for _ in range(TRIES):
        held, arguments, options = changed = duplicate_inputs(inputs)
        change(list_numbers(changed))
        result = list_numbers((build(held)(*arguments, **options), changed))
        triples = zip(differences, result, plain)  # noqa: B905
        differences = [max(before, copies.relative_difference(*pair)) for before, *pair in triples]
    return differences


def change(tensors):
    with torch.no_grad():
        for tensor in tensors:
            if tensor.is_floating_point():
                tensor.mul_(1 + rounding(tensor) / 10 * torch.randn_like(tensor))


def rounding(tensor):
    """What may come of rounding: half of the digits of the type."""
    return torch.finfo(tensor.dtype).eps ** 0.5


def differ(actual, plain, exact):
    if not plain.is_floating_point() or actual.dtype != plain.dtype or not plain.numel():
        return False
    if copies.relative_difference(actual, plain) <= rounding(plain):
        return False
    return copies.relative_difference(actual, exact) > 10 * copies.relative_difference(
        plain, exact
    ) + rounding(plain)


def list_numbers(value):
    """The tensors in nested values, those of modules and all gradients among them."""
    tensors = []
    for tensor in copies.list_tensors(open_up(value)):
        tensors += (
            [tensor] if tensor.grad_fn is not None or tensor.grad is None else [tensor, tensor.grad]
        )
    return tensors


def open_up(value):
    """Nested values with the parameters and buffers of modules in their place."""
    if isinstance(value, nn.Module):
        return [*value.parameters(), *value.buffers()]
    if isinstance(value, dict):
        return [open_up(item) for item in value.values()]
    return [open_up(item) for item in value] if isinstance(value, (list, tuple)) else value


def share_memory(tensors):
    places = {
        id(tensor): tensor
        for tensor in tensors
        if tensor.layout == torch.strided and tensor.numel()
    }
    return len({value.untyped_storage().data_ptr() for value in places.values()}) < len(places)


def duplicate_inputs(arguments_copy):
    """A deep copy of what is captured and given, or None."""
    held, arguments, options = arguments_copy
    duplicates = copies.duplicate_all(
        nn.ModuleList(list_modules(list(held.values()))), held, arguments, options
    )
    return duplicates and duplicates[1:]


def list_modules(values):
    return [value for value in values if isinstance(value, nn.Module)]


def in_double(value):
    if isinstance(value, nn.Module):
        return value.double()
    if isinstance(value, torch.Tensor):
        return value.double() if value.is_floating_point() else value
    if isinstance(value, dict):
        return {key: in_double(item) for key, item in value.items()}
    return type(value)(in_double(item) for item in value) if type(value) in (list, tuple) else value


def find_captured(function, depth=3):
    """What a function uses besides its arguments, by name; None where that cannot be copied."""
    if isinstance(function, types.MethodType):
        return None
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))  # noqa: B905
    values = {}
    for name in list_names(function.__code__):
        value = cells[name].cell_contents if name in cells else function.__globals__.get(name)
        if isinstance(value, (nn.Module, torch.Tensor)):
            values[name] = value
        elif not is_plain(value, depth):
            return None
    return values


def list_names(code):
    """The names that a function and those inside of it use, attributes among them."""
    inner = [
        list_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)
    ]
    return {*code.co_names, *code.co_freevars}.union(*inner)


def is_plain(value, depth):
    """Whether nothing can be changed by a use of the value."""
    if isinstance(value, types.FunctionType):
        is_torch = (value.__module__ or "").startswith("torch")
        return is_torch or (depth > 0 and find_captured(value, depth - 1) == {})
    if isinstance(value, (tuple, frozenset)):
        return all(is_plain(item, depth) for item in value)
    return isinstance(value, PLAIN + CALLED) or type(value).__module__.startswith(
        ("torch._C", "builtins.builtin")
    )


def rebuild(function, held):
    """The function, with other values in the place of those that it has captured."""
    cells = [
        types.CellType(held[name]) if name in held else cell
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ())  # noqa: B905
    ]
    used = {**function.__globals__, **held}
    copy = types.FunctionType(
        function.__code__, used, function.__name__, function.__defaults__, tuple(cells)
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy
