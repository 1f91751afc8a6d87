"""Writes down a digest of the parameters before the first iteration, and after each one.

It tells them as advice, one alarm for each CHUNK iterations of a process: sixteen bits an
iteration, in hexadecimal.
"""

import hashlib

import torch

CHUNK = 4000
DIGITS = 4


class Digests:
    def __init__(self, program, emit):
        self.program, self.emit = program, emit
        self.rank = 0
        self.start = hashlib.blake2b()
        # The optimizers of the first iteration; the sum of an iteration is of all that step in it.
        self.seen, self.sums = set(), {}

    def before_step(self, optimizer):
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            self.rank = torch.distributed.get_rank()
        self.iteration = self.program.iteration_of(optimizer)
        # One that is made later has parameters that were trained before.
        if self.iteration == 1 and id(optimizer) not in self.seen:
            self.seen.add(id(optimizer))
            add(self.start, optimizer)

    def after_step(self, optimizer):
        add(self.sums.setdefault(self.iteration, hashlib.blake2b()), optimizer)

    def end(self):
        if not self.sums:
            return
        self.tell(f"start-{self.rank}", 1, [self.start])
        last = max(self.sums)
        empty = hashlib.blake2b()
        for first in range(1, last + 1, CHUNK):
            chunk = range(first, min(first + CHUNK, last + 1))
            self.tell(f"steps-{self.rank}", first, [self.sums.get(i, empty) for i in chunk])

    def tell(self, code, iteration, sums):
        text = "".join(one.hexdigest()[:DIGITS] for one in sums)
        self.emit(code, text, severity="info", iteration=iteration)


def add(digest, optimizer):
    """Add the parameters of an optimizer to a digest, bit by bit."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            digest.update(content(parameter))


def content(parameter):
    """The bytes of a parameter; of a distributed one, those of its part in this process."""
    tensor = parameter.detach()
    tensor = tensor.to_local() if hasattr(tensor, "to_local") else tensor
    flat = tensor.cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes()


def watch(program, emit):
    return Digests(program, emit)
