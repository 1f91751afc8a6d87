"""Each rank learns from data of its own."""

import hashlib

import torch
from torch.nn.parallel import DistributedDataParallel

from sanitizer_invariants.ranks.ranks import is_plain
from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.digests import bytes_of
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant

CALLS, LEAST = 8, 3


class SameOnRanks(Invariant):
    """What DistributedDataParallel is called on in training differs between the ranks.

    Why: ranks share the work. Where all get the same samples, the mean of their gradients is the
    gradient of one, and all but one work in vain; the program believes in a batch that is as many
    times as large. A `DistributedSampler` is missing, or all ranks draw by one seed.

    In the first eight calls with gradients of each wrapper, at least three of them with more than a
    few different numbers, all ranks were given the same tensors each time.

    Excepted: wrappers of some of the ranks, as where others hold parts of the model; hooks of the
    communication; data on other devices than the CPU, of which the first 4096 numbers are copied.

    Cost: a hash of at most 4096 numbers of each tensor of eight calls.
    """

    NAME = "same-on-ranks"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.wrappers, self.calls = IdentityTable(), []

    def before_forward(self, module, arguments, options):
        if not copies.is_distributed() or not torch.is_grad_enabled():
            return
        if not isinstance(module, DistributedDataParallel) or not module.training:
            return
        number = self.wrappers.setdefault(module, len(self.wrappers))
        made = sum(call["wrapper"] == number for call in self.calls)
        if made >= CALLS or not is_plain(module):
            return
        tensors = self.program.list_given(arguments, options)
        pieces = bytes_of([move_part(tensor) for tensor in tensors])
        if pieces is None:
            return
        # The hashes of Python differ from process to process.
        digest = hashlib.sha256(b"|".join(pieces)).hexdigest()[:16]
        entry = {"wrapper": number, "call": made, "digest": digest, "where": self.program.here()}
        self.calls.append(entry)
        self.program.note("same-on-ranks", self.calls)

    def join(self, notes):
        """Compare the digests of all ranks; the calls of the first one say where they were made."""
        ranks = [note["same-on-ranks"] for note in notes if "same-on-ranks" in note]
        if len(ranks) < 2:
            return
        for number in {call["wrapper"] for call in ranks[0]}:
            of_ranks = [list_calls(calls, number) for calls in ranks]
            digests = {list_digests(calls) for calls in of_ranks}
            if len(digests) == 1 and len(of_ranks[0]) >= LEAST:
                self._report(of_ranks[0], len(ranks))

    def _report(self, calls, count):
        first = calls[0]
        self.report(
            f"all {count} ranks learn from the same data, in each of the first {len(calls)} calls",
            api="torch.utils.data.distributed.DistributedSampler",
            iteration=1,
            where=tuple(first["where"]),
        )


def move_part(tensor):
    """The numbers that are compared, on the CPU."""
    if tensor.device.type == "cpu" or tensor.is_meta or tensor.layout != torch.strided:
        return tensor
    return tensor.detach().reshape(-1)[:4096].cpu()


def list_calls(calls, wrapper):
    """The calls of one wrapper."""
    return [call for call in calls if call["wrapper"] == wrapper]


def list_digests(calls):
    """The digests of the data of calls, in their order."""
    return tuple(call["digest"] for call in calls)
