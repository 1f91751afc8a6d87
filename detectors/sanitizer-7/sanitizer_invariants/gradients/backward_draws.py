"""A backward pass draws no random numbers."""

import threading

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.graphs import find_roots
from sanitizer_invariants.tools.invariant import Invariant, is_sampled

NODES = 2000
# Threads whose work is known, by the beginnings of their modules: none of it is to draw.
HELPERS = ("torch.", "multiprocessing.queues", "tqdm.", "tensorboard.")


class BackwardDraws(Invariant):
    """A backward pass leaves the generators of random numbers as they were.

    Why: what is random in a loss was drawn when it was computed, and its derivative is that of what
    was drawn. Where a part is computed once more for the backward pass (checkpointing, a compiler
    that saves memory), with new random numbers, the gradient belongs to another dropout than the
    loss.

    Excepted: functions of the program's own (`autograd.Function`) and hooks on gradients, which may
    add noise on purpose; graphs of more than 2000 nodes, in which not all of these are looked for;
    programs of several processes, and of other threads than those that hand batches on or show
    progress: the generators are theirs as well.

    Cost: the state of the generators before and after the first five backward passes, and then each
    20th.
    """

    NAME = "backward-draws"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        # A pass may have others inside of it.
        self.passes, self.states = 0, []

    def before_backward(self, tensors):
        self.passes += not self.states
        self.states.append(
            copies.generator_states() if is_sampled(self.passes, 20) and is_alone() else None
        )

    def after_backward(self, tensors):
        state = self.states.pop() if self.states else None
        if (
            state is None
            or copies.are_identical(state, copies.generator_states())
            or copies.is_distributed()
            or not is_alone()
        ):
            return
        if not any(map(is_of_program, find_roots(tensors))) and not self._has_hooks():
            self.report(
                "the backward pass draws random numbers: something is computed once more, with "
                "another dropout than that of the loss",
                api="torch.Tensor.backward",
            )

    def _has_hooks(self):
        parts = [part for module in self.program.modules() for part in module.modules()]
        return any(part._backward_hooks or part._backward_pre_hooks for part in parts)


def is_of_program(root):
    """Whether a graph has functions that are not torch's, or hooks at its parameters,
    or is too large to look at.
    """
    following = [root] if root is not None else []
    visited = set(following)
    for node in following:
        forward = getattr(type(node), "_forward_cls", None)
        if forward is not None and not forward.__module__.startswith("torch."):
            return True
        variable = getattr(node, "variable", None)
        if variable is not None and (
            variable._backward_hooks or getattr(variable, "_post_accumulate_grad_hooks", 0)
        ):
            return True
        new = [
            following_node
            for following_node, _ in node.next_functions
            if following_node is not None and following_node not in visited
        ]
        visited.update(new)
        following += new
        if len(following) > NODES:
            return True
    return False


def is_alone():
    """Whether no other thread can draw numbers meanwhile. Those that torch starts in C++ have a
    dummy at most.
    """
    threads = [
        thread for thread in threading.enumerate() if thread is not threading.current_thread()
    ]
    return all(
        isinstance(thread, threading._DummyThread) or work(thread).startswith(HELPERS)
        for thread in threads
    )


def work(thread):
    """The module of what a thread does."""
    return getattr(getattr(thread, "_target", None), "__module__", None) or type(thread).__module__
