"""Copies of an optimizer that somebody else wrote, with which its steps are tried out."""

import copy
import time
import types

import torch

from sanitizer_invariants.tools import isolation
from sanitizer_invariants.tools.invariant import list_parameters

# `step` and `zero_grad` of an object may be wrappers that call the original.
LEFT_OUT = ("step", "zero_grad", "profile_hook_step")
HOOKS = (
    "_optimizer_step_pre_hooks", "_optimizer_step_post_hooks", "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks", "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)  # fmt: skip
# More numbers would take too long.
NUMBERS = 2**20
# An optimizer that decomposes matrices is left alone.
SECONDS = 10


class Trial:
    """An optimizer of the same class, options and state over copies of its parameters."""

    def __init__(self, optimizer):
        memo = {id(value): twin_of(value) for value in list_parameters(optimizer)}
        for key, value in (list_held(optimizer) or {}).items():
            # What has a graph cannot be copied by itself.
            if isinstance(value, torch.Tensor) and value.grad_fn is not None and key not in memo:
                memo[key] = value.detach().clone()
        self.optimizer = duplicate(optimizer, memo)
        self.parameters = list_parameters(self.optimizer)
        self.begun = time.monotonic()

    def step(self, gradients):
        """One step by these gradients, one for each parameter."""
        if time.monotonic() - self.begun > SECONDS:
            raise TimeoutError
        for parameter, gradient in zip(self.parameters, gradients):  # noqa: B905
            parameter.grad = gradient.clone()
        type(self.optimizer).step(self.optimizer)

    def values(self):
        """Copies of the parameters as they are now."""
        return [parameter.detach().clone() for parameter in self.parameters]

    def multiply(self, option, factor):
        """Multiply an option of all groups."""
        for group in self.optimizer.param_groups:
            group[option] = group[option] * factor


def duplicate(optimizer, memo):
    """A copy with all attributes: what torch copies of an optimizer leaves out those that its
    class has added.
    """
    twin = memo[id(optimizer)] = object.__new__(type(optimizer))
    attributes = {name: value for name, value in vars(optimizer).items() if name not in LEFT_OUT}
    for value in attributes.values():
        if isinstance(value, torch.optim.Optimizer) and id(value) not in memo:
            duplicate(value, memo)
    for name, value in attributes.items():
        # Hooks would act on the program.
        copied = type(value)() if name in HOOKS else copy.deepcopy(value, memo)
        vars(twin)[name] = copied
    return twin


def twin_of(parameter):
    """A leaf with the numbers of a parameter."""
    return torch.nn.Parameter(parameter.detach().clone(), requires_grad=True)


def is_of_others(optimizer):
    """Whether somebody else than torch wrote how this optimizer steps."""
    return not type(optimizer).step.__module__.startswith("torch.")


def can_be_tried(optimizer):
    """Whether its parameters are plain numbers in memory, few enough, and each is there once."""
    parameters = list_parameters(optimizer)
    if not parameters or sum(value.numel() for value in parameters) > NUMBERS:
        return False
    if len({id(value) for value in parameters}) < len(parameters):
        return False
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return False
    return all(map(is_plain, parameters)) and keeps_to_itself(optimizer)


def keeps_to_itself(optimizer):
    """Whether copies of an optimizer leave the program alone, and all that they step by are
    gradients: it holds no network, no generator of random numbers, nothing of the program's.
    """
    objects = list_held(optimizer)
    if objects is None:
        return False
    if any(is_foreign(value) for value in objects.values()):
        return False
    kinds = {type(value) for value in objects.values() if isinstance(value, torch.optim.Optimizer)}
    return not any(
        isolation.name_others([kind.step], kind, objects) for kind in {*kinds, type(optimizer)}
    )


def list_held(optimizer):
    """What an optimizer holds, by identity, without what has been hung on its steps; None where it
    is too much.
    """
    attributes, others = [], [optimizer]
    for holder in others:
        for name, value in vars(holder).items():
            if name in LEFT_OUT or name in HOOKS:
                continue
            is_optimizer = isinstance(value, torch.optim.Optimizer)
            if is_optimizer and not any(value is other for other in others):
                others.append(value)
            if not is_optimizer:
                attributes.append(value)
    objects = isolation.reach(attributes)
    return objects and {**objects, **{id(other): other for other in others}}


def is_foreign(value):
    if isinstance(value, torch.nn.Module):
        return True
    if isinstance(value, types.BuiltinFunctionType):
        # `list.append` of a list of the program's, say.
        return not isinstance(value.__self__, (types.ModuleType, type(None)))
    return isolation.is_generator(value)


def list_learnt(optimizer):
    """The tensors that an optimizer holds beside its parameters and copies of them, and that are
    not empty.
    """
    parameters = list_parameters(optimizer)
    own = {id(value) for value in parameters}
    return [
        value
        for key, value in (list_held(optimizer) or {}).items()
        if isinstance(value, torch.Tensor)
        and key not in own
        and value.numel() > 1
        and bool(value.any())
        and not is_copy(value, parameters)
    ]


def is_copy(value, parameters):
    """Whether a tensor has the numbers of a parameter."""
    return any(value.shape == one.shape and torch.equal(value, one) for one in parameters)


def is_plain(parameter):
    known = type(parameter) in (torch.Tensor, torch.nn.Parameter)
    return (
        known
        and parameter.layout == torch.strided
        and parameter.dtype in (torch.float32, torch.float64)
        and not parameter.is_meta
    )


def draw_like(parameters, generator):
    """Random numbers of the shapes of parameters."""
    return [
        torch.randn(value.shape, generator=generator, dtype=value.dtype).to(value.device)
        for value in parameters
    ]
