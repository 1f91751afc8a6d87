"""The whole program as its monitor sees it: modules, optimizers and iterations, and what happens to them."""

import random
import sys
import threading
import weakref
from contextlib import contextmanager

import torch
import torch._dynamo

from .calls import is_compiled_code

# Not None inside of `vmap`, `grad` and the like, where tensors stand for others and cannot be looked into.
transform = torch._C._functorch.peek_interpreter_stack
# Not None where `torch.jit.trace` writes down whatever is computed.
trace = torch._C._get_tracing_state


def is_recording():
    """Whether kernels are recorded into a CUDA graph: nothing is computed, and waiting for it breaks the program."""
    return torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()


class Program:
    """The live objects of the program, and how far it is; monitors get it."""

    def __init__(self, recorder):
        self._recorder = recorder
        self._optimizers = weakref.WeakSet()
        self._modules = weakref.WeakSet()
        self._offsets = weakref.WeakKeyDictionary()
        self._steps = weakref.WeakKeyDictionary()
        self._local = threading.local()
        self.completed = 0

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

        Optimizers that step in turns share the iterations. The first step of one that comes later is the next iteration
        of the program, not number 1.
        """
        default = self.completed if self.completed > 1 else 0
        return self._offsets.get(optimizer, default) + self._steps.get(optimizer, 0) + 1

    def count_step(self, optimizer):
        """Count a step that this optimizer has done."""
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
        live = [module for module in self._modules if not is_compiled_code(module)]
        parts = {id(part) for module in live for part in module.children()}
        return [module for module in live if id(module) not in parts]

    def optimizers(self):
        """The live optimizers."""
        return list(self._optimizers)

    def here(self):
        """File (relative to the script) and line of the user's code that is being run; (None, None) where none is."""
        return self._recorder.here()

    def note(self, key, value):
        """Keep a value (of JSON) of this process for `join`, which gets the values of all processes."""
        self._recorder.notes[key] = value

    def compilations(self):
        """How many graphs Dynamo has compiled so far."""
        return torch._dynamo.utils.counters["stats"]["unique_graphs"]

    @contextmanager
    def undisturbed(self):
        """A context whose code leaves the random numbers of the program as they were, and calls no monitor."""
        numpy = sys.modules.get("numpy")
        python_state, torch_state = random.getstate(), torch.get_rng_state()
        numpy_state = numpy and numpy.random.get_state()
        cuda_states = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
        was_quiet, self._local.quiet = self.quiet, True
        try:
            yield
        finally:
            self._local.quiet = was_quiet
            random.setstate(python_state)
            torch.set_rng_state(torch_state)
            if numpy:
                numpy.random.set_state(numpy_state)
            if cuda_states:
                torch.cuda.set_rng_state_all(cuda_states)

    @property
    def quiet(self):
        """Whether this thread is inside of `undisturbed`."""
        return getattr(self._local, "quiet", False)

    @property
    def is_hidden(self):
        """Whether monitors hear nothing of what is done now."""
        if self.quiet or transform() is not None or trace() is not None:
            return True
        return is_recording()


class Teller:
    """Calls the methods that a monitor has. If one fails, it is reported, and the monitor is called no more."""

    def __init__(self):
        self.monitor, self.program, self.recorder = None, None, None

    def wants(self, *moments):
        """Whether the monitor has a method for one of these moments."""
        return any(hasattr(self.monitor, moment) for moment in moments)

    def tell(self, moment, *arguments):
        """Call the monitor's method for a moment; returns whether it was called."""
        method = getattr(self.monitor, moment, None)
        if method is None or self.recorder.error is not None or self.program.is_hidden:
            return False
        try:
            method(*arguments)
        except Exception as error:
            self.recorder.fail(error)
        return True
