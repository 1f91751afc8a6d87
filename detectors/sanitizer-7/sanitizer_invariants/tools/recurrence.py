"""What a recurrent module is given at one step, and what it makes of it."""

from typing import NamedTuple

import torch

from sanitizer_invariants.tools.copies import list_tensors


class Step(NamedTuple):
    """One call of a recurrent module: its input, the state that it was given (None where it began
    with nothing), the state that it gave, and how many steps of a sequence the call went.
    """

    input: torch.Tensor
    state: object
    result: torch.Tensor
    length: int


def read_step(module, arguments, options, output):
    """A call of a recurrent module in training; None where tensors have no numbers to look at."""
    values = (*arguments, options.get("input"), options.get("hx"))
    given = [value for value in values if value is not None]
    sequence, state = given[0], given[1] if len(given) > 1 else None
    is_cell = isinstance(module, torch.nn.RNNCellBase)
    results = list_tensors(output if is_cell else output[1:])
    states = list_tensors(state)
    if not results or not all(is_plain(tensor) for tensor in (sequence, results[0], *states)):
        return None
    length = 1 if is_cell else count_steps(module, sequence)
    return Step(sequence, states[0] if states else None, results[0], length)


def count_steps(module, sequence):
    """How many steps of a sequence an `nn.RNNBase` was given."""
    is_batch_first = module.batch_first and sequence.dim() == 3
    return sequence.shape[1 if is_batch_first else 0]


def count_samples(module, state):
    """How many samples a state is of; 1 where the module was given no batch."""
    if isinstance(module, torch.nn.RNNCellBase):
        return len(state) if state.dim() == 2 else 1
    return state.shape[1] if state.dim() == 3 else 1


def is_plain(tensor):
    """Whether a value is a tensor with numbers, of no class of its own."""
    is_tensor = type(tensor) in (torch.Tensor, torch.nn.Parameter)
    return is_tensor and tensor.layout == torch.strided and not tensor.is_meta


def are_equal(first, second):
    """Whether two tensors are the same to the last bit; no number is read where they are one."""
    if first.shape != second.shape or first.dtype != second.dtype or first.device != second.device:
        return False
    is_one = first.data_ptr() == second.data_ptr() and first.stride() == second.stride()
    return is_one or torch.equal(first.detach(), second.detach())
