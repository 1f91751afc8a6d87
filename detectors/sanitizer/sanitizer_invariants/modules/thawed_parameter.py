"""What was frozen is frozen in its new place."""

import weakref

import torch

from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, list_parameters

STEPS = 3


class ThawedParameter(Invariant):
    """A parameter that takes the place of a frozen one, with its numbers, is not trained.

    Why: `nn.Parameter(old.data)` has gradients, whatever the old one had. Where parameters are made
    anew, as for shards, another type or another device, what was frozen begins to learn.

    Of parameters that are put in the place of a frozen one of the same name in the same module, or
    that stand where one was deleted just before, and whose numbers are numbers of the old one; they
    move in three steps.

    Excepted: parameters with other numbers, which begin anew; those that are frozen again before a
    step.

    Cost: a look at the first numbers for each parameter that takes the place of a frozen one.
    """

    NAME = "thawed-parameter"
    VERSION = 7

    def __init__(self, program, report):
        super().__init__(program, report)
        self.frozen, self.thawed = IdentityTable(), {}
        self.called = IdentitySet()

    def before_forward(self, module, arguments, options):
        """Remember which parameters are frozen, as some are deleted before they are replaced."""
        if module not in self.called:
            self.called.add(module)
            self._remember(module)

    def before_parameter(self, module, name, parameter):
        frozen = self.frozen.setdefault(module, {})
        old = module._parameters.get(name)
        if old is not None and old is not parameter:
            frozen[name] = None if old.requires_grad else first_numbers(old)
        numbers = frozen.get(name)
        if numbers is None:
            frozen[name] = None if parameter.requires_grad else first_numbers(parameter)
        elif parameter.requires_grad and first_numbers(parameter) == numbers:
            where = self.program.here()
            self.thawed[id(parameter)] = Thawed(module, name, parameter, where)

    def before_step(self, optimizer):
        if not self.thawed:
            return
        for parameter in list_parameters(optimizer):
            thawed = self.thawed.get(id(parameter))
            if thawed is None or thawed.parameter() is not parameter:
                continue
            thawed.steps += parameter.grad is not None
            if thawed.steps == STEPS:
                self.report(
                    f"`{thawed.name}` of a {thawed.owner} was frozen, and the parameter that has "
                    "taken its place is trained",
                    api="torch.nn.Parameter",
                    parameter=thawed.name,
                    where=thawed.where,
                )

    def _remember(self, module):
        for part in module.modules():
            frozen = self.frozen.setdefault(part, {})
            for name, parameter in part._parameters.items():
                if parameter is not None:
                    frozen[name] = None if parameter.requires_grad else first_numbers(parameter)


class Thawed:
    """A parameter in the place of a frozen one."""

    def __init__(self, module, name, parameter, where):
        self.owner, self.name, self.where = type(module).__name__, name, where
        self.parameter, self.steps = weakref.ref(parameter), 0


def first_numbers(parameter):
    """The first numbers of a parameter, which its shards may have."""
    if isinstance(parameter, torch.nn.parameter.UninitializedTensorMixin) or parameter.is_meta:
        return None
    numbers = parameter.detach().flatten()[:4].tolist()
    # Numbers that are all the same are those of any new one.
    return numbers if len(set(numbers)) > 1 else None
