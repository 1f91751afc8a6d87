"""A copy of a network is not used with the weights from before the network was loaded."""

import weakref

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.files import Files
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, checksum_of
from sanitizer_invariants.tools.modes import has_parameter_of

CALLS = 5


class StaleCopy(Invariant):
    """What was a copy of a network follows where the network loads a checkpoint, before it is used.

    Why: an average of weights, a target network or a teacher begins as a copy. Where the copy is
    made first and the checkpoint is loaded into the original alone, the copy holds the random
    weights of the beginning, and what it says is worth nothing.

    A copy has the class and all weights of a network when that loads what `torch.load` has read.
    Said where it is called five times in training, after a step, while it holds all of them still.

    Excepted: copies that are trained, or are written to in between; networks without random weights
    (all weights equal before and after).

    Cost: sums over the weights of a network at each loading from a file, and of each module of its
    class once after it; of the copies at each of five calls.
    """

    NAME = "stale-copy"
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.files, self.before, self.loads = Files(), None, []
        self.looked_at, self.copies = IdentitySet(), IdentityTable()

    def after_read(self, content):
        self.files.note(content)

    def before_load(self, loaded, state):
        self.before = None
        if not isinstance(loaded, torch.nn.Module) or not hasattr(state, "values"):
            return
        for part in loaded.modules():
            self.copies.pop(part, None)
        tensors = copies.list_tensors(dict(state))
        if any(self.files.find(tensor) is not None for tensor in tensors):
            self.before = list_sums(loaded)

    def after_load(self, loaded):
        before, self.before = self.before, None
        if before and list_sums(loaded) != before:
            self.loads.append(Loading(loaded, before, self.program.completed))
            self.looked_at.clear()

    def before_forward(self, module, arguments, options):
        if not self.loads:
            return
        for part in copies.unwrap(module).modules():
            if part not in self.looked_at:
                self._find_source(part)
            loading = self.copies.get(part)
            if loading is not None and self.program.completed > loading.completed:
                self._look_at(part, loading)

    def _find_source(self, module):
        """Whether a module that is called is a copy from before a loading."""
        self.looked_at.add(module)
        for loading in self.loads:
            source = loading.source()
            is_alike = type(module) is loading.kind and module is not source
            if not is_alike or source is None or not is_drawn(module) or self._is_trained(module):
                continue
            if list_sums(module) == loading.sums:
                self.copies[module] = loading

    def _is_trained(self, module):
        return any(has_parameter_of(optimizer, module) for optimizer in self.program.optimizers())

    def _look_at(self, module, loading):
        if loading.source() is None or list_sums(module) != loading.sums:
            del self.copies[module]
            return
        loading.calls += 1
        if loading.calls == CALLS:
            del self.copies[module]
            self.report(
                f"a copy of {type(module).__name__} holds the weights that the original had before "
                "it loaded its checkpoint, and is used with them",
                api=f"{type(module).__name__}.load_state_dict",
            )


class Loading:
    """A network that has loaded a file, its weights before, and the steps of the program then."""

    def __init__(self, source, sums, completed):
        self.source, self.kind = weakref.ref(source), type(source)
        self.sums, self.completed, self.calls = sums, completed, 0


def is_drawn(module):
    """Whether some of its weights differ from each other: new layers that begin with constants are
    all alike.
    """
    return any(bool((value != value.flatten()[:1]).any()) for value in module.parameters())


def list_sums(module):
    """A checksum of each parameter."""
    return [checksum_of(value) for value in module.parameters()]
