"""A copy of an optimizer with its parameters, gradients and state,
which can do steps of its own.
"""

import sys
from collections import defaultdict

import torch

CLASSES = (
    "SGD", "Adam", "AdamW", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD", "NAdam",
    "RAdam", "SparseAdam",
)  # fmt: skip
PLAIN = {"foreach": False, "fused": False, "differentiable": False}
OWN = ("step", "zero_grad", "state", "param_groups")
HOOKS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")
EVERYWHERE = ("_global_optimizer_pre_hooks", "_global_optimizer_post_hooks")


class Shadow:
    """What a step reads of some parameters, by their ids. Of a parameter that is there twice there
    is one copy.
    """

    def __init__(self, optimizer, some):
        self.made_of, self.attributes = type(optimizer), dict(vars(optimizer))
        self.originals = {id(parameter): parameter for parameter in some}
        self.values, self.gradients, self.identities, self.states = {}, {}, {}, {}
        for key, parameter in self.originals.items():
            self.values[key] = copy_value(parameter)
            self.gradients[key] = copy_value(parameter.grad)
            self.identities[key] = id(parameter.grad)
            if parameter in optimizer.state:
                self.states[key] = _copies(optimizer.state[parameter])
        self.groups = [(_options(group), self._members(group)) for group in optimizer.param_groups]

    def _members(self, group):
        return [id(parameter) for parameter in group["params"] if id(parameter) in self.originals]

    def step(self, gradients):
        """A for-loop step by these gradients: {id: (parameter, its state) afterwards}."""
        new = {
            key: torch.nn.Parameter(value.clone(), requires_grad=False)
            for key, value in self.values.items()
        }
        for key, parameter in new.items():
            parameter.grad = copy_value(gradients[key])
        optimizer = object.__new__(self.made_of)
        vars(optimizer).update(
            {name: value for name, value in self.attributes.items() if name not in OWN}
        )
        optimizer.defaults = {**self.attributes["defaults"], **PLAIN}
        optimizer.param_groups = []
        for options, keys in self.groups:
            if keys:
                members = [new[key] for key in keys]
                optimizer.param_groups.append({**_copies(options), "params": members})
        optimizer.state = defaultdict(
            dict, {new[key]: _copies(state) for key, state in self.states.items()}
        )
        self.made_of.step(optimizer)
        return {
            key: (parameter, optimizer.state.get(parameter, {})) for key, parameter in new.items()
        }


def copy_value(value):
    """A copy of a tensor outside of the graph; anything else as it is, steps do not change it."""
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def is_comparable(optimizer):
    """Whether the step is that of torch, on plain tensors, and nothing else takes part in it."""
    made_of = type(optimizer)
    if made_of.__name__ not in CLASSES or made_of is not getattr(torch.optim, made_of.__name__):
        return False
    if not made_of.step.__module__.startswith("torch.optim") or _is_hooked(optimizer):
        return False
    # A gradient scaler gives these to a fused step, which divides by the scale or does nothing.
    if any(getattr(optimizer, name, None) is not None for name in ("grad_scale", "found_inf")):
        return False
    members = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    return all(_is_plain(parameter) for parameter in members) and not _overlap(members)


def _overlap(tensors):
    """Whether two of the tensors are the same memory,
    so that both are updated by the step of each.
    """
    places = {
        id(tensor): (tensor.device, tensor.data_ptr()) for tensor in tensors if tensor.numel()
    }
    return len(set(places.values())) < len(places)


def _is_hooked(optimizer):
    # torch.optim has no name for its modules in every release.
    module = sys.modules[torch.optim.Optimizer.__module__]
    everywhere = [getattr(module, name, None) for name in EVERYWHERE]
    return any(everywhere) or any(getattr(optimizer, name, None) for name in HOOKS)


def _is_plain(parameter):
    """Half precision is left out: near the bottom of its range roundings have no bound relative to
    the value.
    """
    kinds = type(parameter), type(parameter.grad)
    # All tensors on a GPU say that they are shared.
    if parameter.is_meta or (parameter.is_shared() and not parameter.is_cuda):
        return False
    if not set(kinds) <= {torch.Tensor, torch.nn.Parameter, type(None)}:
        return False
    floating = parameter.is_floating_point() or parameter.is_complex()
    return (
        floating
        and parameter.dtype not in (torch.float16, torch.complex32)
        and parameter.layout == torch.strided
    )


def _options(group):
    options = {name: copy_value(value) for name, value in group.items() if name != "params"}
    options.update({name: value for name, value in PLAIN.items() if name in options})
    # On a CPU only compiled steps may be capturable.
    if "capturable" in options and not all(parameter.is_cuda for parameter in group["params"]):
        options["capturable"] = False
    return options


def _copies(values):
    return {name: copy_value(value) for name, value in values.items()}
