"""Does the first step give the same values and gradients when it is compiled?

The forward pass of the first step's batch, and its backward pass, are run by the model as it is written, and by the
same model compiled. A model that the program has compiled itself is compared as the program compiled it. All passes
begin with the same parameters, buffers and random numbers. Two eager passes are compared first: where these differ,
nothing can be said.
"""

import torch
import torch._dynamo
from one_batch import NOTHING, HandOver, preserved
from torch.utils._pytree import tree_flatten

SEED = 0
BACKENDS = ("inductor", "aot_eager")
# How far apart numbers may be that torch's own benchmarks of compiled models take for the same.
SAME = 1e-4


def watch(program, emit):
    def use(batch, optimizer):
        if not isinstance(batch.model, torch.nn.Module):
            return False
        compare(batch, optimizer, emit)
        return True

    return HandOver(program, emit, use)


def compare(batch, optimizer, emit):
    written = getattr(batch.model, "_orig_mod", batch.model)
    eager = passes(written, batch, optimizer)
    if not close(eager, passes(written, batch, optimizer)):
        emit(NOTHING, "two passes as written differ", severity="info")
        return
    if written is not batch.model:
        is_random = not close(eager, passes(written, batch, optimizer, seed=SEED + 1))
        if is_random:
            emit(NOTHING, "the program's compiled model draws random numbers of its own", severity="info")
            return
        report(eager, passes(batch.model, batch, optimizer), BACKENDS[0], emit)
        return
    is_compiled = False
    for backend in BACKENDS:
        try:
            compiled = passes(compiled_twin(written, backend), batch, optimizer, owner=written)
        except Exception as error:
            emit("not-compiled", f"{backend}: {type(error).__name__}", severity="info")
            continue
        is_compiled = True
        report(eager, compiled, backend, emit)
    if not is_compiled:
        emit(NOTHING, "the model could not be compiled", severity="info")


def compiled_twin(model, backend):
    """The model compiled; with the random numbers of the eager one, which inductor can be told to draw."""
    from torch._inductor import config

    twin = torch.compile(model, backend=backend)

    def call(*arguments, **options):
        with config.patch(fallback_random=True):
            return twin(*arguments, **options)

    return call


def passes(call, batch, optimizer, seed=SEED, owner=None):
    """Values by name: what the model returns, and the gradients of its parameters."""
    owner = owner or getattr(call, "_orig_mod", call)
    with preserved(owner, optimizer):
        for parameter in owner.parameters():
            parameter.grad = None
        torch.manual_seed(seed)
        output = call(*batch.arguments, **batch.options)
        objective(output, batch).backward()
        values = {f"output {place}": leaf.detach().clone() for place, leaf in enumerate(tensors_in(output))}
        for name, parameter in owner.named_parameters():
            if parameter.grad is not None:
                values[name] = parameter.grad.detach().clone()
    return values


def objective(output, batch):
    """The loss of the step; where it is not known, fixed weights times what the model returns."""
    if batch.loss is not None:
        return batch.loss(output, batch.loss.targets).sum()
    terms = []
    for tensor in tensors_in(output):
        if tensor.requires_grad:
            weights = torch.arange(tensor.numel(), device=tensor.device).cos().reshape(tensor.shape)
            terms.append((tensor * weights).sum())
    return sum(terms)


def tensors_in(output):
    return [leaf for leaf in tree_flatten(output)[0] if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()]


def report(eager, compiled, backend, emit):
    for name, message in differences(eager, compiled):
        parameter = None if name.startswith("output ") else name
        emit(backend, f"{name}: {message}", severity="error", parameter=parameter)
    for name in sorted(eager.keys() & compiled.keys()):
        if not torch._dynamo.utils.same(eager[name], compiled[name], tol=SAME, equal_nan=True):
            emit(f"{backend}-same", f"{name} differs by more than {SAME}", severity="error")
            return


def close(first, second):
    return not any(True for _ in differences(first, second))


def differences(first, second):
    """Names and messages of values that are not close by the tolerance that torch has for their type."""
    for name in sorted(first.keys() | second.keys()):
        if name not in first or name not in second:
            yield name, "only one of the two has it"
            continue
        try:
            torch.testing.assert_close(second[name], first[name], equal_nan=True)
        except AssertionError as error:
            yield name, " ".join(str(error).split())[:200]
