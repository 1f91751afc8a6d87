"""A network that others learn from is in evaluation mode."""

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, checksum_of
from sanitizer_invariants.tools.modes import depends_on_mode, has_parameter_of

CALLS, COPY_CALLS = 50, 5000


class NoisyTeacher(Invariant):
    """A network that stays as it is while another one is trained is not called in training mode.

    Why: a teacher, a reference policy and a network of features are there for what they have
    learnt. In training mode dropout takes a part of that away, another one at each call, and batch
    normalisation judges by the batches and goes on to count them. Modules are in training mode when
    they are made; `eval()` is missing.

    Of networks with dropout or running statistics, in training mode, that no optimizer has, called
    without gradients or frozen; at 50 calls in 50 steps of others their weights are the same. Where
    one of the same class and shapes is trained it may be a copy that follows from time to time
    (the target of a learner): then at 5000.

    Excepted: copies that follow at least once in that time; networks that were called in evaluation
    mode too; parts of other modules.

    Cost: a look-up for each call of a module; sums over the weights of such a network twice.
    """

    NAME = "noisy-teacher"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.teachers, self.others, self.steps = IdentityTable(), IdentitySet(), 0

    def before_step(self, optimizer):
        self.steps += 1

    def before_forward(self, module, arguments, options):
        module = copies.unwrap(module)
        if module in self.others:
            return
        teacher = self.teachers.get(module)
        if teacher is None:
            self._meet(module)
        elif not module.training:
            self._except(module)
        else:
            teacher.calls += 1
            if min(teacher.calls, self.steps - teacher.first) >= teacher.wanted:
                self._judge(module, teacher)

    def _except(self, module):
        self.others.add(module)
        self.teachers.pop(module, None)

    def _meet(self, module):
        """Remember a network that may be a teacher; of others nothing is said."""
        parts = [part for part in module.modules() if part.training and depends_on_mode(part)]
        is_still = not torch.is_grad_enabled() or not any(
            parameter.requires_grad for parameter in module.parameters()
        )
        if not self.steps and not self.program.optimizers():
            return
        if not module.training or not parts or not is_still or self._is_trained(module):
            self._except(module)
            return
        teacher = Teacher(self.steps, sum_weights(module), type(parts[0]).__name__)
        teacher.wanted = COPY_CALLS if self._has_trained_twin(module) else CALLS
        self.teachers[module] = teacher

    def _has_trained_twin(self, module):
        shapes = list_shapes(module)
        others = [copies.unwrap(other) for other in self.program.modules()]
        alike = [other for other in others if type(other) is type(module)]
        return any(self._is_trained(other) and list_shapes(other) == shapes for other in alike)

    def _is_trained(self, module):
        return any(has_parameter_of(optimizer, module) for optimizer in self.program.optimizers())

    def _judge(self, module, teacher):
        self._except(module)
        if sum_weights(module) == teacher.sums and not self._is_trained(module):
            self.report(
                f"a {type(module).__name__} that is not trained was called {teacher.calls} times "
                f"in training mode while others were trained: its {teacher.part} is not that of "
                "evaluation",
                api="torch.nn.Module.eval",
            )


class Teacher:
    """What is known of a network: the step of its first call, its weights, and a part of it that
    depends on the mode.
    """

    def __init__(self, first, sums, part):
        self.first, self.sums, self.part = first, sums, part
        self.calls, self.wanted = 1, CALLS


def list_shapes(module):
    return [parameter.shape for parameter in module.parameters()]


def sum_weights(module):
    return tuple(checksum_of(parameter) for parameter in module.parameters())
