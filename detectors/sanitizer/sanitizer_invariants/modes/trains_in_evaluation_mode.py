"""Training goes on in training mode after a validation."""

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.modes import depends_on_mode, has_parameter_of

# One step could be tried out in evaluation mode; a loop goes on with it.
STEPS = 3


class TrainsInEvaluationMode(Invariant):
    """A line that steps by what a module gave in training mode does not do so in evaluation mode
    after a validation.

    Why: dropout and batch normalisation are part of the training until `eval()` turns them off for
    a validation; without `train()` after it all further steps are without them, which no program
    changes to by validating.

    Only where the module has either, is in evaluation mode as a whole, was called without gradients
    after its last `eval()`, and where three steps of the same optimizer follow at the same line.

    Excepted: normalisations that are frozen for a second phase (`eval()` with no validation after
    it), phases with a step at another line, modules that have never trained in training mode, and
    programs that have called `train()` after a validation before: they know of it, and may leave it
    out in their last epochs.

    Cost: a look at the modes of all parts for each call of a module that is in evaluation mode.
    """

    NAME = "trains-in-evaluation-mode"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.states = IdentityTable()

    def before_forward(self, module, arguments, options):
        module = copies.unwrap(module)
        if module not in self.states:
            self.states[module] = ModeHistory(module)
        state = self.states[module]
        if not state.matters:
            return
        is_evaluating = copies.is_evaluating(module)
        if torch.is_grad_enabled():
            state.last = "training" if module.training else None
            if is_evaluating:
                state.last = "evaluation"
        elif is_evaluating:
            state.is_validated = True

    def after_mode(self, module, training):
        parts = set(map(id, module.modules()))
        for trained, state in self.states.items():
            if id(trained) in parts:
                state.returns = state.returns or bool(
                    trained.training and state.is_validated and state.trained
                )
                state.is_validated, state.late = False, []

    def after_step(self, optimizer):
        called = [
            (module, state) for module, state in self.states.items() if state.last is not None
        ]
        place = (id(optimizer), self.program.here()) if called else None
        for module, state in called:
            last, state.last = state.last, None
            if last == "training" and place not in state.trained:
                state.trained |= {place} if has_parameter_of(optimizer, module) else set()
            elif (
                last == "evaluation"
                and state.is_validated
                and not state.returns
                and place in state.trained
            ):
                self._late(state, optimizer)

    def _late(self, state, optimizer):
        state.late.append(self.program.iteration_of(optimizer))
        if len(state.late) == STEPS:
            self.report(
                "training goes on in evaluation mode after a validation: without dropout, by old "
                "batch statistics",
                api="torch.nn.Module.train",
                iteration=state.late[0],
            )


class ModeHistory:
    """What is known of a module that the program calls."""

    def __init__(self, module):
        self.matters = any(depends_on_mode(part) for part in module.modules())
        self.last, self.is_validated, self.returns, self.trained, self.late = (
            None,
            False,
            False,
            set(),
            [],
        )
