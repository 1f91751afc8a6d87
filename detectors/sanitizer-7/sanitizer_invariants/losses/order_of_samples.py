"""A loss does not depend on the order of the samples."""

import torch

from sanitizer_invariants.tools import copies, side_effects
from sanitizer_invariants.tools.invariant import Invariant, is_sampled
from sanitizer_invariants.tools.samples import Samples, select_rows

# Sums of single precision in another order differ by less; those of half precision do not.
TOLERANCE, ROUNDINGS = 1e-4, 64


class OrderOfSamples(Invariant):
    """A loss of outputs and targets stays what it is where both are put into another order of
    samples.

    Why: a DataLoader that shuffles has them in any order. A loss that changes with it compares
    outputs of one sample with targets of another: an axis that was moved to the wrong place, a
    `view` in the place of a transposition.

    Of modules without parameters that are called with outputs and targets, both with one row a
    sample, and give one number. Targets are such that a DataLoader which shuffles has given. Up to
    1e-4, and more in half precision.

    Excepted: losses that draw random numbers, or keep numbers of their own, in themselves or
    elsewhere (they are not tried: what they keep would be the program's); pairs that stand one
    behind the other in what has no targets.

    Cost: four calls of a loss for its first five calls and then for each 100th.
    """

    NAME, LIGHT = "order-of-samples", False
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.samples, self.calls = Samples(), {}

    def after_batch(self, loader, batch):
        self.samples.note(loader, batch)

    def after_forward(self, module, arguments, options, output):
        if not self.samples.kinds or not is_loss(module, output):
            return
        tensors = self.program.list_given(arguments, options)
        target = next(
            (
                tensor
                for tensor in tensors
                if not tensor.requires_grad and self.samples.is_one(tensor)
            ),
            None,
        )
        if target is None or not any(
            tensor.requires_grad and len(tensor) == len(target)
            for tensor in tensors
            if tensor.dim()
        ):
            return
        name = type(module).__name__
        self.calls[name] = self.calls.get(name, 0) + 1
        batch_rows = (
            select_rows(tensors, len(target))
            and is_sampled(self.calls[name], 100)
            and not side_effects.may_have_side_effects(module)
        )
        twin = copies.duplicate_all(module, arguments, options) if batch_rows else None
        if twin and copies.attempt(self.program, depends, len(target), *twin):
            api = (
                f"torch.nn.{name}"
                if type(module).__module__.startswith("torch.")
                else f"{name}.forward"
            )
            self.report(
                f"{name} gives another loss where outputs and targets are in another order of "
                "samples",
                api=api,
            )


def is_loss(module, output):
    is_number = isinstance(output, torch.Tensor) and output.requires_grad and output.numel() == 1
    return (
        is_number
        and not any(True for _ in module.parameters())
        and not any(True for _ in module.buffers())
    )


def depends(size, module, arguments, options):
    """Whether a loss depends on the order of the samples, and on nothing that comes and goes."""
    before = copies.generator_states()
    with torch.no_grad():
        once, again = module(*arguments, **options), module(*arguments, **options)
        order = torch.cat([torch.arange(1, size, 2), torch.arange(0, size, 2)])
        tensors = copies.list_tensors((arguments, options))
        for row in select_rows(tensors, size):
            row.copy_(row[order.to(row.device)])
        other = module(*arguments, **options)
    repeats = copies.are_identical(once, again) and copies.are_identical(
        before, copies.generator_states()
    )
    return repeats and copies.relative_difference(once, other) > max(
        TOLERANCE, ROUNDINGS * coarsest(tensors)
    )


def coarsest(tensors):
    """The rounding of the least precise tensor."""
    return max(torch.finfo(tensor.dtype).eps for tensor in tensors if tensor.is_floating_point())
