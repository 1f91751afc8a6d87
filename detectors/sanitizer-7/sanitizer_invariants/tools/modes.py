"""Modules that do something else in evaluation mode, and optimizers that train them."""

from torch import nn

from sanitizer_invariants.tools.invariant import list_parameters


def has_parameter_of(optimizer, module):
    """Whether the optimizer has a parameter of the module."""
    held = {id(parameter) for parameter in list_parameters(optimizer)}
    return any(id(parameter) in held for parameter in module.parameters())


def depends_on_mode(part):
    """Whether a part does something else in evaluation mode."""
    if isinstance(part, nn.modules.dropout._DropoutNd):
        return part.p > 0
    if isinstance(part, (nn.RNNBase, nn.MultiheadAttention)):
        return part.dropout > 0
    return isinstance(part, nn.modules.batchnorm._BatchNorm) and part.track_running_stats
