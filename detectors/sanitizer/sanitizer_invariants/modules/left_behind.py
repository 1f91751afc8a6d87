"""Copies of networks that are trained follow them together."""

import weakref

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, checksum_of
from sanitizer_invariants.tools.modes import has_parameter_of

EVERY, CHANGES, LOOKS, CALLS = 5, 20, 400, 50


class LeftBehind(Invariant):
    """Of the copies of networks that are trained, none stays as it was while another one follows.

    Why: targets of a learner (of an actor and a critic, of an encoder and its head) are copies that
    are moved after what they were copied from, by a share or from time to time. Where one is
    forgotten in that, it is what it was before the training, and what is learnt from the targets is
    an answer to it.

    A copy is a network that no optimizer holds, and that had the weights of one that an optimizer
    trains when it was called first. Said of a copy that has stayed while what it was copied from,
    and a copy of another network, were seen to move 20 times, and that was called 50 times.

    Excepted: a copy beside which another one of the same network follows (a fixed reference and an
    average); programs in which no copy moves, or which have copies of one network only.

    Cost: a look-up for each call of a module; a comparison of weights at the first call of a
    network that is not trained; where there are copies of two networks, sums over their weights at
    each fifth step, 400 times at most.
    """

    NAME, LIGHT = "left-behind", False
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.called, self.copies = IdentitySet(), IdentityTable()
        self.steps, self.looks = 0, 0

    def before_forward(self, module, arguments, options):
        module = copies.unwrap(module)
        if module in self.copies:
            self.copies[module].calls += 1
        elif module not in self.called:
            self.called.add(module)
            source = self._find_source(module)
            if source is not None:
                self.copies[module] = Copy(module, source)

    def _find_source(self, module):
        """The network that is trained, and whose weights a module has; None where there is none."""
        if self._is_trained(module) or not any(True for _ in module.parameters()):
            return None
        candidates = {*self.called, *self.program.modules()}
        alike = [other for other in candidates if type(other) is type(module)]
        for candidate in alike:
            if self._is_trained(candidate) and have_same_weights(candidate, module):
                return candidate
        return None

    def _is_trained(self, module):
        return any(has_parameter_of(optimizer, module) for optimizer in self.program.optimizers())

    def before_step(self, optimizer):
        self.steps += 1
        if self.steps % EVERY or self.looks >= LOOKS or len(self.copies) < 2:
            return
        held = [copy for copy in self.copies.values() if copy.source() is not None]
        if len({id(copy.source()) for copy in held}) < 2:
            return
        self.looks += 1
        for module, copy in self.copies.items():
            copy.look(module)
        for module, copy in list(self.copies.items()):
            if self._is_left(copy, held):
                self.looks = LOOKS
                self.report(
                    f"a copy of a {type(module).__name__} has stayed as it was while that was "
                    f"trained and a copy of another network followed {CHANGES} times: it is never "
                    "updated",
                    api="torch.nn.Module.load_state_dict",
                )

    def _is_left(self, copy, others):
        if copy.moves or copy.calls < CALLS or copy.moves_of_source < CHANGES:
            return False
        source = copy.source()
        siblings = [other for other in others if other.source() is source]
        strangers = [other for other in others if other.source() is not source]
        has_following = any(other.moves >= CHANGES for other in strangers)
        return has_following and not any(other.moves for other in siblings)


class Copy:
    """What is known of a copy: its source, and how many times both were seen to move."""

    def __init__(self, module, source):
        self.source, self.calls = weakref.ref(source), 1
        self.sums, self.sums_of_source = sum_weights(module), sum_weights(source)
        self.moves = self.moves_of_source = 0

    def look(self, module):
        source = self.source()
        if source is None:
            return
        sums, sums_of_source = sum_weights(module), sum_weights(source)
        self.moves += sums != self.sums
        self.moves_of_source += sums_of_source != self.sums_of_source
        self.sums, self.sums_of_source = sums, sums_of_source


def sum_weights(module):
    return tuple(checksum_of(parameter) for parameter in module.parameters())


def have_same_weights(first, second):
    """Whether two modules have parameters of the same shapes, which hold the same numbers."""
    parameters, others = list(first.parameters()), list(second.parameters())
    shapes = [parameter.shape for parameter in parameters]
    if shapes != [parameter.shape for parameter in others]:
        return False
    return copies.are_identical(parameters, others)
