"""All ranks have the same parameters."""

import weakref

import torch
from torch.nn.parallel import DistributedDataParallel

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet
from sanitizer_invariants.tools.invariant import Invariant, is_sampled, list_parameters

WRAPPER = "torch.nn.parallel.DistributedDataParallel"
INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class Ranks(Invariant):
    """After a step the parameters of what DistributedDataParallel wraps are the same on all ranks,
    to the last bit.

    Why: they begin the same, and each rank steps by the same mean of all gradients. Ranks that have
    drifted apart train models of their own, on a part of the data each; one of these is kept.

    Looked at after steps by gradients that went through the wrapper, or past it (its module was
    called instead, or the wrapper was thrown away).

    Excepted: steps by passes all of which were under `no_sync` (local training) and what follows
    them; parameters that are the same again before a later step (averaging by hand); hooks of the
    communication, groups of some ranks, other devices, optimizers of a part of the parameters
    (ZeroRedundancyOptimizer), sparse parameters.

    Cost: a sum of the bits of all parameters, before and after the first five steps and each 20th.
    """

    NAME, LIGHT = "ranks", False
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.steps, self.sums, self.wrappers = 0, [], []
        self.is_local, self.before = False, None
        # What a wrapper was made for, whether the wrapper is still there or not.
        self.wrapped = IdentitySet()
        self._begin()

    def _begin(self):
        """Forget what was done since the step before."""
        self.synchronised, self.unsynchronised, self.backwards, self.calls = set(), set(), 0, []

    def before_registration(self, parent, name, module):
        if isinstance(parent, DistributedDataParallel) and name == "module":
            self.wrapped.add(module)

    def before_forward(self, module, arguments, options):
        if not copies.is_distributed() or not torch.is_grad_enabled():
            return
        for part in module.modules():
            if isinstance(part, DistributedDataParallel):
                (self.synchronised if part.require_backward_grad_sync else self.unsynchronised).add(
                    id(part)
                )
        self.calls.append((weakref.ref(module), self.program.here()))

    def before_backward(self, tensors):
        self.backwards += 1

    def before_step(self, optimizer):
        """Each rank begins the step with the sum of its parameters."""
        if not copies.is_distributed() or torch.distributed.get_world_size() < 2:
            return
        self.steps, self.before = self.steps + 1, None
        if self.steps <= 5 or self.steps % 100 == 0:
            self.wrappers = self._wrappers()
        if self.wrappers and self.backwards and is_sampled(self.steps, 20) and len(self.sums) < 500:
            self.before = checksum(self._averaged(optimizer))

    def after_step(self, optimizer):
        ids = {id(parameter) for parameter in list_parameters(optimizer)} if self.wrappers else ()
        wrappers = set()
        for wrapper in self.wrappers:
            if any(id(parameter) in ids for parameter in wrapper.parameters()):
                wrappers.add(id(wrapper))
        if wrappers and self.backwards:
            self._look(optimizer, wrappers)
        self._begin()

    def _wrappers(self):
        """The wrappers whose ranks have to agree."""
        for optimizer in self.program.optimizers():
            if any("ZeroRedundancy" in kind.__name__ for kind in type(optimizer).__mro__):
                return []
        parts = {}
        for module in self.program.modules():
            parts.update({id(part): part for part in module.modules()})
        wrappers = [part for part in parts.values() if isinstance(part, DistributedDataParallel)]
        held = {id(wrapper.module) for wrapper in wrappers}
        unwrapped = [Unwrapped(module) for module in self.wrapped if id(module) not in held]
        return [*filter(is_plain, wrappers), *unwrapped]

    def _averaged(self, optimizer):
        held = {id(tensor) for wrapper in self.wrappers for tensor in list_averaged(wrapper)}
        return [parameter for parameter in list_parameters(optimizer) if id(parameter) in held]

    def _look(self, optimizer, wrappers):
        synchronised, unsynchronised = self.synchronised & wrappers, self.unsynchronised & wrappers
        self.is_local = self.is_local or bool(unsynchronised and not synchronised)
        if self.is_local or self.before is None:
            return
        past = None if synchronised else self._past(wrappers)
        tensors = self._averaged(optimizer)
        entry = {
            "step": self.steps,
            "iteration": self.program.iteration_of(optimizer),
            "past": bool(past),
        }
        entry |= {
            "api": f"{WRAPPER}.no_sync" if unsynchronised else WRAPPER,
            "where": past or self.program.here(),
        }
        self.sums.append(entry | {"before": self.before, "after": checksum(tensors)})
        self.program.note("ranks", {"device": device(tensors), "sums": self.sums})

    def _past(self, wrappers):
        """Where something inside of a wrapper was called by itself."""
        inside = {
            id(part)
            for wrapper in self.wrappers
            if id(wrapper) in wrappers
            for part in wrapper.modules()
        }
        return next((where for module, where in self.calls if id(module()) in inside), None)

    def join(self, notes):
        """Compare the sums of all ranks; those of the first one say where they were made."""
        ranks = [note["ranks"] for note in notes if "ranks" in note]
        if not ranks:
            return
        ranks = [rank for rank in ranks if rank["device"] == ranks[0]["device"]]
        other_ranks = [sums_by_step(rank) for rank in ranks[1:]]
        apart = None
        for entry in ranks[0]["sums"]:
            entries = [other[entry["step"]] for other in other_ranks if entry["step"] in other]
            if apart and all(other["before"] == entry["before"] for other in entries):
                return  # They are averaged in another way.
            if any(other["after"] != entry["after"] for other in entries):
                apart = apart or entry
        if apart:
            self._report(apart["iteration"], apart["past"], apart["api"], tuple(apart["where"]))

    def _report(self, iteration, past, api, where):
        why = "their gradients were not synchronised, or something else differs"
        if past:
            why = "the module is called and not its wrapper, which alone synchronises gradients"
        message = f"after this step the ranks have different parameters: {why}"
        self.report(message, api=api, iteration=iteration, where=where)


class Unwrapped:
    """A module that a wrapper was made for, and that is trained without it."""

    def __init__(self, module):
        self.module = module

    def parameters(self):
        return self.module.parameters()

    def modules(self):
        return self.module.modules()


def sums_by_step(rank):
    return {entry["step"]: entry for entry in rank["sums"]}


def is_plain(wrapper):
    if (
        torch.distributed.get_world_size(wrapper.process_group)
        != torch.distributed.get_world_size()
    ):
        return False
    return not wrapper._get_ddp_logging_data().get("comm_hook")


def list_averaged(wrapper):
    """The parameters that the wrapper keeps the same."""
    ignored = getattr(wrapper, "parameters_to_ignore", ())
    named_parameters = wrapper.module.named_parameters()
    return [
        parameter
        for name, parameter in named_parameters
        if parameter.requires_grad and name not in ignored and not parameter.is_sparse
    ]


def checksum(tensors):
    """The sum of all bits, taken for integers."""
    checksum_of = 0
    for tensor in tensors:
        numbers = tensor.detach().reshape(-1)
        numbers = torch.view_as_real(numbers) if numbers.is_complex() else numbers
        checksum_of += int(
            numbers.contiguous().view(INTEGERS[numbers.element_size()]).sum(dtype=torch.int64)
        )
    return checksum_of


def device(tensors):
    return (
        torch.cuda.get_device_name(tensors[0].device) if tensors and tensors[0].is_cuda else "cpu"
    )
