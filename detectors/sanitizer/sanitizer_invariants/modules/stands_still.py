"""A recurrent network hands on what it has made."""

import torch

from sanitizer_invariants.tools.graphs import walk
from sanitizer_invariants.tools.hooks import may_read_saved
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, checksum_of
from sanitizer_invariants.tools.recurrence import are_equal, is_plain, read_step

STEPS, LOOKED, PASSES, NODES = 4, 8, 3, 24
# What a node of the graph keeps of the table that it has read, or multiplied.
SAVED = ("_saved_indices", "_saved_mat1", "_saved_self")


class StandsStill(Invariant):
    """A recurrent cell that goes along a sequence gets another state at a later step.

    Why: what it makes at one step it is to be given at the next. A loop that does not keep the new
    state, or hands on the old one, makes a first step of each: nothing is remembered.

    Of `nn.RNNCell`, `nn.GRUCell`, `nn.LSTMCell`, and `nn.RNN`, `nn.GRU` and `nn.LSTM` with one step
    a call, in training. Four calls or more stand before one backward pass, all get one state, the
    same to the last bit, and give another one. Their inputs are the same as well, or parts of one
    table of data (which a linear layer or an embedding may have read). Three passes in a row, with
    other data.

    Excepted: calls without a state; states in other memory that are all 0, of other samples or
    agents; inputs that are learnt, or the same in all passes (a list of candidates); modules that
    have handed on a state in some earlier pass.

    Cost: a comparison of two states for the first passes of a module; of eight inputs where states
    are the same.
    """

    NAME = "stands-still"
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.runs, self.moving = IdentityTable(), IdentitySet()
        self.is_backward = False

    def after_recurrence(self, module, arguments, options, output):
        if module in self.moving or self.is_backward or not torch.is_grad_enabled():
            return
        step = read_step(module, arguments, options, output) if module.training else None
        if step is None or not step.result.requires_grad:
            return
        run = self.runs.setdefault(module, Run())
        if not run.note(step, self.program.here()):
            self.moving.add(module)
            del self.runs[module]

    def before_backward(self, tensors):
        self.is_backward = True
        for module, run in list(self.runs.items()):
            if run.count:
                self._judge(module, run)

    def after_backward(self, tensors):
        self.is_backward = False

    def _judge(self, module, run):
        run.passes = run.passes + 1 if run.stands_still() else 0
        if run.passes == PASSES:
            kind = type(module).__name__
            self.report(
                f"{kind} is called {run.count} times along a sequence, and gets the same state "
                "each time, to the last bit: what it makes of one step is not handed on",
                api=f"torch.nn.{kind}",
                where=run.where,
            )
        run.clear()


class Run:
    """The calls of a module since the last backward pass; sums of the data of the pass before."""

    def __init__(self):
        self.passes, self.sums = 0, None
        self.clear()

    def clear(self):
        self.count, self.state, self.inputs, self.where = 0, None, [], None
        self.is_empty_again = False

    def note(self, step, where):
        """Note a call; False where it shows that the module is not one that stands still."""
        if step.state is None or step.length != 1 or are_equal(step.result, step.state):
            return False
        if self.count == 0:
            self.state, self.where = step.state.detach(), where
        elif not are_equal(self.state, step.state):
            return False
        # Empty states in other memory may be of other samples.
        is_moved = step.state.data_ptr() != self.state.data_ptr()
        if is_moved and not self.is_empty_again:
            self.is_empty_again = not step.state.detach().any()
        self.count += 1
        if len(self.inputs) < LOOKED:
            self.inputs.append(step.input)
        return True

    def stands_still(self):
        """Whether the calls of this pass are steps of a sequence, of other data than before."""
        if self.count < STEPS or not self._are_steps():
            return False
        before = self.sums
        self.sums = [checksum_of(tensor) for tensor in list_data(self.inputs[0])]
        return bool(self.sums) and self.sums != before

    def _are_steps(self):
        first = self.inputs[0]
        if any(tensor.shape != first.shape for tensor in self.inputs):
            return False
        if all(are_equal(first, tensor) for tensor in self.inputs[1:]):
            return True
        return not self.is_empty_again and are_parts(self.inputs)


def are_parts(inputs):
    """Whether inputs are different parts of one table, or were computed from such parts."""
    tables = [[tensor, *list_data(tensor)] for tensor in inputs]
    for part in tables[0]:
        parts = [part, *(find_part(table, part) for table in tables[1:])]
        places = {other.data_ptr() for other in parts if other is not None}
        if len(places) == len(inputs):
            return True
    return False


def find_part(table, part):
    """A tensor of the same shape in the same memory as another one, or None."""
    memory = part.untyped_storage().data_ptr()
    for other in table:
        if other.shape == part.shape and other.untyped_storage().data_ptr() == memory:
            return other
    return None


def read_kept(node, name):
    """What a node keeps under a name; None where it keeps nothing, or a pass has freed it."""
    try:
        return getattr(node, name, None)
    except RuntimeError:
        return None


def list_data(tensor):
    """The tensors without gradients that a tensor is, or was computed from, near to it."""
    data = [tensor]
    for node in walk([tensor.grad_fn], NODES) if may_read_saved() else ():
        data += [read_kept(node, name) for name in SAVED]
    return [value for value in data if is_plain(value) and not value.requires_grad]
