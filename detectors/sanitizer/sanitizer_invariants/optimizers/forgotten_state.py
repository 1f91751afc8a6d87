"""An optimizer remembers its steps."""

import weakref

from sanitizer_invariants.tools.identity import IdentitySet
from sanitizer_invariants.tools.invariant import Invariant, list_parameters

OPTIMIZERS = 10


class ForgottenState(Invariant):
    """Optimizers with momentum are not thrown away after one step each.

    Why: `Adam` and `SGD` with momentum move by averages over many steps. Where the optimizer is
    made anew for each batch, these are empty each time: `Adam` moves all parameters by the learning
    rate, whatever the size of their gradients.

    Seen at ten optimizers in a row that were made one after the other, had the same parameters,
    and a state after their first step, which was their last one.

    Excepted: optimizers without a state; several for the same parameters that step in turns;
    parameters that are made anew too, as copies for a task are.

    Cost: a look-up for each step, and a look at the state after the first step of an optimizer.
    """

    NAME = "forgotten-state"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.known, self.parameter, self.count = IdentitySet(), lambda: None, 0
        self.before = IdentitySet()

    def after_step(self, optimizer):
        if optimizer in self.known:
            # It goes on: so do others, perhaps.
            self.count = 0
            return
        self.known.add(optimizer)
        parameters = list_parameters(optimizer)
        first = parameters[0] if parameters else None
        # Those that were there before may step in turns.
        is_new = optimizer not in self.before
        self.before = IdentitySet(self.program.optimizers())
        is_next = is_new and first is not None and self.parameter() is first
        is_next = is_next and has_memory(optimizer)
        self.count = self.count + 1 if is_next else 1
        self.parameter = (lambda: None) if first is None else weakref.ref(first)
        if self.count == OPTIMIZERS:
            name = type(optimizer).__name__
            self.report(
                f"{OPTIMIZERS} optimizers in a row made one step each on the same parameters: each "
                f"{name} begins without the averages of the steps before",
                api=f"torch.optim.{name}",
            )


def has_memory(optimizer):
    """Whether an optimizer keeps more than a count of its steps."""
    for state in optimizer.state.values():
        names = [name for name, value in state.items() if name != "step" and value is not None]
        if names:
            return True
    return False
