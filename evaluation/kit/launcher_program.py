"""The whole program as a monitor of it sees it: its modules, optimizers and iterations, and what happens to them.

For the launcher, whose docstring says what is called when. Only what the monitor has a method for is hooked.
"""

import random
import sys
import threading
import weakref
from contextlib import contextmanager

import launcher_hooks
import torch
import torch._dynamo

# Not None inside of `vmap`, `grad` and the like, where tensors stand for others and cannot be looked into.
transform = torch._C._functorch.peek_interpreter_stack
# Not None where `torch.jit.trace` writes down whatever is computed.
trace = torch._C._get_tracing_state


def is_recording():
    """Whether kernels are recorded into a CUDA graph: nothing is computed, and to wait for it breaks the program."""
    return torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()


class Program:
    """What a monitor is given: the live objects of the program, and how far it is."""

    def __init__(self, recorder):
        self._recorder, self._optimizers, self._modules = (
            recorder,
            weakref.WeakSet(),
            weakref.WeakSet(),
        )
        self._offsets, self._steps, self.completed = (
            weakref.WeakKeyDictionary(),
            weakref.WeakKeyDictionary(),
            0,
        )
        self._local = threading.local()

    @property
    def iteration(self):
        """The number of the iteration that goes on: one more than those that an optimizer's step has completed."""
        return self.completed + 1

    def add_optimizer(self, optimizer):
        self._optimizers.add(optimizer)

    def add_module(self, module):
        self._modules.add(module)

    def iteration_of(self, optimizer):
        """The iteration of the program to which the next step of this optimizer belongs.

        Optimizers that step in turns share the iterations; the first step of one that comes later is the next iteration
        of the program, not number 1.
        """
        offset = self._offsets.get(optimizer, self.completed if self.completed > 1 else 0)
        return offset + self._steps.get(optimizer, 0) + 1

    def stepped(self, optimizer):
        iteration = self.iteration_of(optimizer)
        self._steps[optimizer] = self._steps.get(optimizer, 0) + 1
        self._offsets[optimizer] = iteration - self._steps[optimizer]
        self.completed = max(self.completed, iteration)
        self._recorder.steps += 1
        self._recorder.iterations = self.completed

    def steps(self, optimizer):
        """How many steps this optimizer has done."""
        return self._steps.get(optimizer, 0)

    def modules(self):
        """The live modules that are part of no other, in no order: models, wrappers, losses."""
        live = [module for module in self._modules if not launcher_hooks.is_compiled_code(module)]
        parts = {id(part) for module in live for part in module.children()}
        return [module for module in live if id(module) not in parts]

    def optimizers(self):
        """The live optimizers."""
        return list(self._optimizers)

    def here(self):
        """File (relative to the script) and line of the user's code that is being run; (None, None) where none is."""
        return self._recorder.here()

    def note(self, key, value):
        """Keep a value (of JSON) of this process for `join`, which sees those of all processes."""
        self._recorder.notes[key] = value

    def compilations(self):
        """How many graphs Dynamo has compiled so far."""
        return torch._dynamo.utils.counters["stats"]["unique_graphs"]

    @contextmanager
    def undisturbed(self):
        """Whatever is done inside leaves the random numbers of the program as they were, and calls no monitor."""
        numpy = sys.modules.get("numpy")
        states = random.getstate(), torch.get_rng_state(), numpy and numpy.random.get_state()
        cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
        outer, self._local.quiet = self.quiet, True
        try:
            yield
        finally:
            self._local.quiet = outer
            random.setstate(states[0])
            torch.set_rng_state(states[1])
            if numpy:
                numpy.random.set_state(states[2])
            if cuda:
                torch.cuda.set_rng_state_all(cuda)

    @property
    def quiet(self):
        return getattr(self._local, "quiet", False)

    @property
    def untold(self):
        """Whether no monitor is told of what is done now."""
        return self.quiet or transform() is not None or trace() is not None or is_recording()


class Teller:
    """Calls the methods that a monitor has; one that fails is reported, and the monitor is called no more."""

    def __init__(self, monitor, program, recorder):
        self.monitor, self.program, self.recorder = monitor, program, recorder

    def wants(self, *moments):
        return any(hasattr(self.monitor, moment) for moment in moments)

    def tell(self, moment, *what):
        """Whether the monitor was told."""
        method = getattr(self.monitor, moment, None)
        if method is None or self.recorder.error is not None or self.program.untold:
            return False
        try:
            method(*what)
        except Exception as error:
            self.recorder.failed(error)
        return True
