"""Losses change."""

import torch

from sanitizer_invariants.tools.graphs import find_roots, kind, walk
from sanitizer_invariants.tools.hooks import PLAIN
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant

# The first step of a look, of each so many, and how many steps it takes.
FIRST, EVERY, STEPS = 3, 500, 20
INPUTS, NUMBERS, NODES = 8, 4096, 2000
# How many of the inputs differ at least, and the least loss and rate that count.
DIFFERENT, LEAST_LOSS, LEAST_RATE, WHOLE = 4, 1e-5, 1e-7, 1e-6


class ConstantLoss(Invariant):
    """Of 20 losses in a row, of different inputs and weights, not all are the same number.

    Why: a loss is a function of what it is to judge. One that is the same to the last bit, while
    inputs differ and steps are made, judges nothing: both of its sides are the same (the logarithm
    of 2, where a policy is its own reference), it is clipped, units are dead, or it reads something
    else.

    Excepted: zero (nothing is left to learn), other whole numbers, and what is less than 0.00001;
    losses of half precision, or of more than one number; inputs that are unknown, or of which fewer
    than four differ; learning rates below 0.0000001; losses with exp(x - x), whose number is always
    1 and whose gradient counts.

    Cost: for 20 steps of each 500 the loss is kept, and a sum of 4096 numbers of each input.
    """

    NAME = "constant-loss"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.counts, self.looks = IdentityTable(), IdentityTable()
        self.inputs, self.loss, self.is_surrogate = [], None, False

    def before_forward(self, module, arguments, options):
        if not self.looks or not torch.is_grad_enabled():
            return
        for value in (*arguments, *options.values()):
            if is_dense(value) and len(self.inputs) < INPUTS:
                self.inputs.append(sum_of(value))

    def before_backward(self, tensors):
        if not self.looks:
            return
        self.loss = tensors.detach().clone() if is_number(tensors) else None
        if any(len(look) == STEPS - 1 for look in self.looks.values()):
            self.is_surrogate = any(map(is_one, walk(find_roots(tensors), NODES)))

    def before_step(self, optimizer):
        count = self.counts[optimizer] = self.counts.get(optimizer, 0) + 1
        look = self.looks.get(optimizer)
        if look is not None:
            is_usable = self.loss is not None and self.inputs and has_rate(optimizer)
            if is_usable:
                look.append((self.loss, self.inputs))
            if not is_usable or len(look) == STEPS:
                del self.looks[optimizer]
            if len(look) == STEPS and not self.is_surrogate and is_constant(look):
                self._report(optimizer, look)
        if (count + 1) % EVERY == FIRST:
            self.looks[optimizer] = []
        self.inputs, self.loss = [], None

    def _report(self, optimizer, look):
        self.report(
            f"{STEPS} losses in a row are {look[0][0].item():.7g}, to the last bit, though inputs "
            "differ and steps are made: the loss does not depend on what it is to judge",
            api="torch.Tensor.backward",
            iteration=self.program.iteration_of(optimizer),
        )


def is_dense(value):
    return type(value) in PLAIN and value.layout == torch.strided and not value.is_meta


def sum_of(value):
    """A number of an input, on its device, that other inputs seldom have."""
    with torch.no_grad():
        numbers = value.detach().reshape(-1)[:NUMBERS]
        numbers = torch.view_as_real(numbers) if numbers.is_complex() else numbers
        return numbers.float().square().sum()


def is_number(tensor):
    is_single = isinstance(tensor, torch.Tensor) and is_dense(tensor) and tensor.numel() == 1
    return is_single and tensor.dtype in (torch.float32, torch.float64)


def is_one(node):
    """Whether a node is an exponential that is 1 everywhere."""
    if kind(node) != "Exp":
        return False
    result = node._saved_result.detach()
    return not result.is_meta and bool((result == 1).all())


def has_rate(optimizer):
    return any(float(group.get("lr", 1.0)) >= LEAST_RATE for group in optimizer.param_groups)


def is_constant(look):
    """Whether losses are the same number, which is no whole one, and their inputs are not."""
    losses = torch.stack([loss.reshape(()).to("cpu", torch.float64) for loss, _ in look])
    loss = losses[0].item()
    is_same = bool((losses == losses[0]).all()) and bool(losses.isfinite().all())
    if not is_same or abs(loss) < LEAST_LOSS or abs(loss - round(loss)) < WHOLE:
        return False
    sums = {read_numbers(inputs) for _, inputs in look}
    return len(sums) >= DIFFERENT


def read_numbers(tensors):
    """The numbers of tensors that hold one each."""
    return tuple(tensor.item() for tensor in tensors)
