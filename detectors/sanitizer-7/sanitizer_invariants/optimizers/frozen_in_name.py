"""What a program says is frozen is frozen."""

import difflib

import torch

from sanitizer_invariants.tools.invariant import Invariant, is_sampled, list_parameters

NAME, ALIKE = "requires_grad", 0.85
METHOD = "requires_grad_"


class FrozenInName(Invariant):
    """No parameter is trained whose module, or which itself, was told False under a name that
    torch does not know.

    Why: Python lets any attribute be set. `parameter.require_grad = False` makes a new attribute,
    `module.requires_grad = False` one that nothing reads, and `parameter.requires_grad_ = False`
    hides a method: all parameters go on to learn. (`requires_grad` is of tensors, and
    `requires_grad_()` a method of both.)

    Seen at a step, of parameters of the optimizer that need gradients and have some other than 0:
    an attribute of the parameter whose name is nearly `requires_grad`, or one of a module around
    it that has that name, is False. The other way round, an attribute of such a name is True, and
    the parameter needs none.

    Excepted: attributes of modules with other names, and those that are no True or False; modules
    that have `requires_grad` as an attribute, and no parameter of which is trained.

    Cost: a look at the attributes of all parameters and modules at the first five steps and then at
    each 100th.
    """

    NAME = "frozen-in-name"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.steps, self.reported = 0, set()

    def before_step(self, optimizer):
        self.steps += 1
        if not is_sampled(self.steps, 100):
            return
        parameters = list_parameters(optimizer)
        for parameter in parameters:
            for name, value in vars(parameter).items():
                if is_ignored(name, value, parameter):
                    self._report("parameter", name, value, parameter)
        trained = {id(parameter) for parameter in parameters if is_trained(parameter)}
        for model in self.program.modules():
            for module in model.modules():
                self._look_at(module, trained)

    def _look_at(self, module, trained):
        names = [name for name in (NAME, METHOD) if vars(module).get(name) is False]
        learnt = [parameter for parameter in module.parameters() if id(parameter) in trained]
        if names and learnt:
            self._report(type(module).__name__, names[0], False, learnt[0])

    def _report(self, owner, name, value, parameter):
        if (owner, name) in self.reported:
            return
        self.reported.add((owner, name))
        state = "needs a gradient all the same" if parameter.requires_grad else "needs no gradient"
        self.report(
            f"`{name} = {value}` of a {owner} is an attribute that torch does not read: the "
            f"parameter of shape {tuple(parameter.shape)} {state}",
            api="torch.nn.Module.requires_grad_",
        )


def is_ignored(name, value, parameter):
    """Whether an attribute of a parameter says the contrary of what is done with it."""
    if name != METHOD and difflib.SequenceMatcher(None, name, NAME).ratio() < ALIKE:
        return False
    if value is False:
        return is_trained(parameter)
    return value is True and not parameter.requires_grad


def is_trained(parameter):
    gradient = parameter.grad
    if not parameter.requires_grad or gradient is None or gradient.is_meta:
        return False
    with torch.no_grad():
        return gradient.layout != torch.strided or bool((gradient != 0).any())
