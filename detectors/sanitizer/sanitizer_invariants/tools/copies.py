"""Copies of modules and of what they are given,
to try something out that the program does not notice.
"""

import contextlib
import copy
import dataclasses
import io
import random
import sys
import warnings
from collections.abc import Mapping

import torch
from torch.nn.modules import module as torch_module

# What is larger is not copied: a program that just fits into memory would not fit any more.
BYTES = 2**30


def list_tensors(value, depth=6):
    """The tensors in nested lists, tuples, mappings and dataclasses."""
    if isinstance(value, torch.Tensor):
        return [value]
    if depth == 0:
        return []
    if isinstance(value, Mapping):
        value = list(value.values())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in list_tensors(item, depth - 1)]
    return []


def unwrap(module):
    """The module inside of a compiled one, or the module itself."""
    parts = getattr(module, "_modules", {})
    # The parts of a scripted module have no `get`.
    if "_orig_mod" in parts:
        return parts["_orig_mod"]
    return module


def is_evaluating(module):
    """Whether a module and all that it is made of are in evaluation mode."""
    return not module.training and not any(part.training for part in module.modules())


def duplicate_all(module, *values):
    """Deep copies of a module and values, which share what these share;
    None where there is none that can be called.
    """
    module = unwrap(module)
    if (
        is_distributed()
        or any(is_special(part) for part in module.modules())
        or is_large(module, values)
    ):
        return None
    try:
        with torch.inference_mode(False), torch.no_grad(), drawing_nothing(), preserved(module):
            memo = {id(tensor): duplicate_tensor(tensor) for tensor in list_tensors(values)}
            duplicates = copy.deepcopy((module, *values), memo)
    except Exception:
        return None
    for part in duplicates[0].modules():
        if getattr(part, "_compiled_call_impl", None) is not None:
            part._compiled_call_impl = None
    return duplicates


@contextlib.contextmanager
def preserved(module):
    """Whatever a copy takes out of a module, it has again: `__getstate__` of a class may take out
    of the module itself what it leaves out of the copy.
    """
    attributes = [(part, dict(vars(part))) for part in module.modules() if saves_itself(part)]
    try:
        yield
    finally:
        for part, original in attributes:
            vars(part).clear()
            vars(part).update(original)


def saves_itself(module):
    """Whether the class of a module says what of it is copied."""
    names = ("__getstate__", "__reduce__", "__reduce_ex__", "__deepcopy__")
    return any(
        getattr(type(module), name, None) is not getattr(torch.nn.Module, name, None)
        for name in names
    )


def is_large(module, values):
    tensors = [*module.parameters(), *module.buffers(), *list_tensors(values)]
    lazy = torch.nn.parameter.UninitializedTensorMixin
    tensors = [tensor for tensor in tensors if not isinstance(tensor, lazy)]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors) > BYTES


def duplicate_tensor(tensor):
    """A leaf with the numbers of a tensor."""
    return tensor.detach().clone().requires_grad_(tensor.requires_grad)


def is_distributed():
    """Whether other processes wait for what the modules of this one do."""
    return torch.distributed.is_available() and torch.distributed.is_initialized()


def is_special(module):
    """Whether a copy of a module would act on more than itself (hooks), or is compiled."""
    hooks = (module._forward_hooks, module._forward_pre_hooks, torch_module._global_forward_hooks)
    foreign = any(not _is_torch(hook) for registry in hooks for hook in registry.values())
    return (
        foreign
        or unwrap(module) is not module
        # Some parts of a scripted module have no `forward`.
        or hasattr(getattr(module, "forward", None), "_torchdynamo_orig_callable")
    )


def _is_torch(hook):
    return (getattr(hook, "__module__", None) or type(hook).__module__).startswith("torch.")


@contextlib.contextmanager
def unnoticed(program):
    """Whatever is called inside is not told to monitors, prints nothing,
    and uses up no random numbers.
    """
    with (
        program.undisturbed(),
        without_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        yield


@contextlib.contextmanager
def without_warnings():
    """Nothing warns inside.

    `warnings.catch_warnings` would make Python forget which warnings it has shown: the program's
    own would come again.
    """
    names = ("warn", "showwarning")
    bare = [getattr(warnings, name) for name in names]
    for name in names:
        setattr(warnings, name, _ignore)
    try:
        yield
    finally:
        for name, function in zip(names, bare):  # noqa: B905
            setattr(warnings, name, function)


def _ignore(*arguments, **options):
    """A warning that nobody sees."""


@contextlib.contextmanager
def drawing_nothing():
    """The generators of random numbers are afterwards as they were: a class may make a copy by
    making a new module, which draws its weights.
    """
    numpy = sys.modules.get("numpy")
    numpy_state = numpy and numpy.random.get_state()
    python_state, states = random.getstate(), generator_states()
    try:
        yield
    finally:
        random.setstate(python_state)
        # `set_rng_state` would be told as the program's own.
        torch.default_generator.set_state(states[0])
        if states[1:]:
            torch.cuda.set_rng_state_all(states[1:])
        if numpy:
            numpy.random.set_state(numpy_state)


def attempt(program, call, *arguments):
    """What a call on copies gives; None where it fails, which is nobody's fault."""
    with unnoticed(program):
        try:
            return call(*arguments)
        except Exception:
            return None


def generator_states():
    """The states of the generators of random numbers."""
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    return [torch.get_rng_state(), *cuda]


def are_identical(first, second):
    """Whether two nested values hold the same tensors, bit by bit; nan is the same as nan."""
    first, second = list_tensors(first), list_tensors(second)
    return len(first) == len(second) and all(_are_equal(*pair) for pair in zip(first, second))  # noqa: B905


def _are_equal(first, second):
    if (
        first.shape != second.shape
        or first.dtype != second.dtype
        or first.is_sparse
        or second.is_sparse
    ):
        return False
    return bool(((first == second) | ((first != first) & (second != second))).all())


def relative_difference(first, second):
    """The norm of the difference of two floating-point tensors, relative to theirs,
    where both are finite.
    """
    first, second = first.detach().double(), second.detach().double()
    both = torch.isfinite(first) & torch.isfinite(second)
    first, second = first[both], second[both]
    size = max(first.norm().item(), second.norm().item()) if first.numel() else 0.0
    return (first - second).norm().item() / size if size else 0.0
