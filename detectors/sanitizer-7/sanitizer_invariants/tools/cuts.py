"""Which parameters a network computes with, and sends no gradient to."""

import torch
from torch.nn.modules.module import register_module_forward_hook
from torch.overrides import TorchFunctionMode

from sanitizer_invariants.tools import copies

SHARE = 1e-3
# What may end a graph, to say where; whether it is ended is seen without them.
CUTS = (
    "detach", "item", "tolist", "numpy", "tensor", "as_tensor", "argmax", "argmin", "round", "sign",
    "floor", "ceil", "trunc", "one_hot", "bernoulli", "multinomial", "long", "int", "heaviside",
    "bucketize", "searchsorted", "argsort",
)  # fmt: skip


def find_cut(numbers, recorder, module, arguments, options):
    """Those of a copy's parameters (by number) on which its outputs depend without a graph; None
    where two calls differ.
    """
    parameters, call = list(module.parameters()), (module, arguments, options)
    called = {}
    with recorder:
        first = call_with_gradients(*call, called)
    if differ(first, call_alike(*call)):
        return None
    cut = []
    for number in numbers:
        parameter = parameters[number]
        is_used = called.get(id(parameter), False) and not is_reached(first, parameter)
        if is_used and differ(first, call_with_noise(*call, parameter)):
            cut.append(number)
    return cut


def call_with_gradients(module, arguments, options, called):
    """What a call gives; `called` gets the ids of the parameters whose modules were called, and
    whether with gradients.
    """

    def note(part, inputs, output):
        for parameter in part._parameters.values():
            called[id(parameter)] = called.get(id(parameter), True) and torch.is_grad_enabled()

    handle = register_module_forward_hook(note)
    try:
        return call_alike(module, arguments, options, True)
    finally:
        handle.remove()


def call_alike(module, arguments, options, grad=False):
    """What a call gives with the same random numbers each time."""
    torch.manual_seed(0)
    with torch.inference_mode(False), torch.set_grad_enabled(grad):
        return module(*arguments, **options)


def call_with_noise(module, arguments, options, parameter):
    """What a copy gives with other numbers in a parameter."""
    with torch.no_grad():
        original = parameter.clone()
        size = original.std() if original.numel() > 1 else original.abs().mean()
        noise = torch.randn(original.shape, generator=torch.Generator().manual_seed(0)).to(original)
        parameter.add_(noise * (2 * size + 0.1))
    output = call_alike(module, arguments, options)
    with torch.no_grad():
        parameter.copy_(original)
    return output


def differ(first, second):
    """Whether two outputs are other numbers."""
    pairs = zip(copies.list_tensors(first), copies.list_tensors(second))  # noqa: B905
    return any(
        tensor.shape != other.shape or copies.relative_difference(tensor, other) > SHARE
        for tensor, other in pairs
        if tensor.is_floating_point()
    )


def is_reached(output, parameter):
    """Whether a gradient would come from the outputs to a parameter."""
    graph = [tensor for tensor in copies.list_tensors(output) if tensor.requires_grad]
    if not graph:
        return False
    total = sum(tensor.double().square().sum() + tensor.double().sum() for tensor in graph)
    (gradient,) = torch.autograd.grad(total, parameter, allow_unused=True, retain_graph=True)
    return gradient is not None and bool((gradient != 0).any())


class CutRecorder(TorchFunctionMode):
    """Notes the functions that get something with a gradient, and may end the graph."""

    def __init__(self, program):
        super().__init__()
        self.program, self.cuts = program, []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        name = getattr(function, "__name__", "")
        if name in CUTS and torch.is_grad_enabled():
            has_gradient = any(tensor.requires_grad for tensor in copies.list_tensors(args))
            cut = name, self.program.here()
            if has_gradient and cut not in self.cuts:
                self.cuts.append(cut)
        return result

    def find_only(self):
        """The name and place of the one function that ends the graph; None where several may."""
        return self.cuts[0] if len(self.cuts) == 1 else (None, None)
