"""What every invariant is made of."""

import torch


class Invariant:
    """One statement about all correct programs; its methods are moments of the kit's launcher.

    `program` is the launcher's Program; `report(message, api, parameter, iteration, where)` says
    that the statement does not hold here. The docstring of each says: why any correct program keeps
    it, what is excepted, what it costs.
    """

    NAME, SEVERITY, LIGHT = "", "error", True
    # The version of the sanitizer that was the first to have it.
    VERSION = 0

    def __init__(self, program, report):
        self.program, self.report = program, report


def is_sampled(count, every, first=5):
    """Whether the count-th event is looked at by what costs too much to look at each:
    the first ones, then some.

    Most faults act from the beginning; one that begins later is seen `every` events later at most.
    """
    return count <= first or count % every == 0


def list_parameters(optimizer):
    """The parameters of an optimizer, in its order."""
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def list_own_parameters(module):
    """The parameters of a module without its parts; its class may have made `parameters` anew."""
    return [parameter for parameter in module._parameters.values() if parameter is not None]


def find_name(program, parameter):
    """The name of a parameter in the module that holds it, or None."""
    for module in program.modules():
        for name, candidate in module.named_parameters():
            if candidate is parameter:
                return name
    return None


def checksum_of(tensor):
    """A number that changes when the tensor does, by whatever means (its version does not,
    by `.data`).

    The gradients of a bias before a softmax add up to nothing, and so would what they change: the
    first numbers count by their places.
    """
    is_lazy = isinstance(tensor, torch.nn.parameter.UninitializedTensorMixin)
    if is_lazy or tensor.is_meta or tensor.layout != torch.strided:
        return None
    with torch.no_grad():
        values = tensor.detach()
        if values.is_complex():
            values = torch.view_as_real(values)
        first = values.reshape(-1)[:64].double()
        places = torch.arange(1, len(first) + 1, dtype=torch.float64, device=first.device)
        return (values.sum(dtype=torch.float64) + first @ places).item()
