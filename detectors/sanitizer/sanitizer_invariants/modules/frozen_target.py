"""The network that targets come from follows the one that learns."""

import weakref

import torch

from sanitizer_invariants.losses.chooses_nan import uses_places
from sanitizer_invariants.modules.left_behind import Copy, have_same_weights
from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant
from sanitizer_invariants.tools.modes import has_parameter_of

EVERY, CHOICES, CHANGES = 20, 100, 20


class FrozenTarget(Invariant):
    """A copy of a network whose largest values are what the network learns does not stay as it
    was.

    Why: in Q-learning the target of a value is the reward and the largest value of what follows,
    by a copy of the network that is moved after it from time to time. A copy that never moves gives
    random numbers for what follows, and only the next reward is learnt.

    A copy is a network that no optimizer holds, and that had the weights of one that an optimizer
    trains when it was called first. Said of a copy without gradients of whose output the largest
    values along an axis were taken 100 times, and that has stayed to the end while the network was
    seen to move 20 times, at each 20th step.

    Excepted: copies of which the places of the largest values are taken alone (`argmax`), as of a
    teacher or an opponent.

    Cost: a look-up for each call of a module; sums over the weights at each 20th step.
    """

    NAME, LIGHT = "frozen-target", False
    VERSION = 6

    def __init__(self, program, report):
        super().__init__(program, report)
        self.called, self.copies = IdentitySet(), IdentityTable()
        self.outputs, self.steps = weakref.WeakValueDictionary(), 0
        # By copy: the class of one that has stayed so far, which may be gone before the end.
        self.begun, self.frozen = IdentitySet(), {}

    def after_forward(self, module, arguments, options, output):
        module = copies.unwrap(module)
        if module not in self.called:
            self.called.add(module)
            source = self._find_source(module)
            if source is not None:
                self.copies[module] = Copy(module, source)
                self.copies[module].calls = 0
        if module in self.copies and isinstance(output, torch.Tensor) and not output.requires_grad:
            self.outputs[id(module)] = output

    def after_choice(self, name, tensor, dim, frame):
        if name != "max" or not self.copies:
            return
        if uses_places(name, (frame.f_code.co_filename, frame.f_lineno)):
            return
        for module, copy in self.copies.items():
            copy.calls += self.outputs.get(id(module)) is tensor

    def before_step(self, optimizer):
        self.steps += 1
        if self.steps % EVERY:
            return
        for module, copy in list(self.copies.items()):
            if copy.calls < CHOICES or copy.moves or copy.source() is None:
                if copy.moves:
                    self.frozen[id(copy)] = None
                continue
            copy.look(module)
            if module not in self.begun:
                # What was copied before the first steps is the beginning.
                self.begun.add(module)
                copy.moves = copy.moves_of_source = 0
            is_frozen = copy.moves_of_source >= CHANGES and not copy.moves
            self.frozen[id(copy)] = type(module).__name__ if is_frozen else None

    def end(self):
        for name in filter(None, self.frozen.values()):
            self.report(
                f"targets are the largest values of a copy of a {name}, which has stayed as it was "
                "while the network was trained: it is never updated",
                api="torch.nn.Module.load_state_dict",
            )

    def _find_source(self, module):
        """The network that is trained, and whose weights a module has; None where there is none."""
        if self._is_trained(module) or not any(True for _ in module.parameters()):
            return None
        candidates = IdentitySet([*self.called, *self.program.modules()])
        for candidate in candidates:
            is_other = type(candidate) is type(module) and self._is_trained(candidate)
            if is_other and have_same_weights(candidate, module):
                return candidate
        return None

    def _is_trained(self, module):
        return any(has_parameter_of(optimizer, module) for optimizer in self.program.optimizers())
