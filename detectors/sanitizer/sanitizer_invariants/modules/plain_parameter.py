"""What a module has made to learn is a parameter."""

import torch

from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, list_parameters
from sanitizer_invariants.tools.waiting import STEPS, Waiting, is_looked_at

# A longer way to a leaf is one of a forward pass.
WAY = 4


class PlainParameter(Invariant):
    """A tensor that a module keeps, and that gets gradients at each step, is a parameter.

    Why: `nn.Parameter(…).to(…)`, `.float()` and `torch.zeros(…, requires_grad=True)` are
    plain tensors. As attributes of a module they are in no `parameters()`, so that no optimizer has
    them, and in no state dictionary: they have gradients and stay as they were made.

    Seen of attributes, and of tensors in lists and dictionaries that are attributes, of modules
    with a parameter that the optimizer has: the same tensor at three steps in a row, with what it
    was made of (by at most four functions from one leaf) without change and with gradients, and
    the leaf is in no optimizer and a parameter of no module.

    Excepted: tensors that another part of the program changes; leaves without gradients; tensors
    that are made anew for each step.

    Cost: a look at the attributes of all modules at the first five steps and at three of fifty.
    """

    NAME = "plain-parameter"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.waiting, self.counts = Waiting(), IdentityTable()

    def before_step(self, optimizer):
        self.counts[optimizer] = self.counts.get(optimizer, 0) + 1
        if not is_looked_at(self.counts[optimizer]):
            return
        held, visited = {id(parameter) for parameter in list_parameters(optimizer)}, set()
        for model in self.program.modules():
            if any(id(parameter) in held for parameter in model.parameters()):
                for module in model.modules():
                    self._look_at(optimizer, module, visited)

    def _look_at(self, optimizer, module, visited):
        for name, tensor in list_kept(module):
            leaf = find_leaf(tensor)
            # One leaf may be in several attributes, and counts once in a step.
            if leaf is None or id(leaf) in visited or self._is_owned(leaf):
                continue
            visited.add(id(leaf))
            if self.waiting.count(leaf) == STEPS:
                self._report(optimizer, module, name, tensor)

    def _is_owned(self, leaf):
        optimizers = self.program.optimizers()
        learnt = [parameter for owner in optimizers for parameter in list_parameters(owner)]
        modules = self.program.modules()
        registered = [parameter for module in modules for parameter in module.parameters()]
        return any(leaf is parameter for parameter in (*learnt, *registered))

    def _report(self, optimizer, module, name, tensor):
        made = "plain tensor" if tensor.is_leaf else "tensor that was computed from a parameter"
        self.report(
            f"`{name}` of {type(module).__name__} has gradients at {STEPS} steps in a row, and is "
            f"a {made}: it is in no optimizer, and stays as it is",
            api="torch.nn.Parameter",
            parameter=name,
            iteration=self.program.iteration_of(optimizer),
        )


def list_kept(module):
    """The tensors with gradients, no parameters, that are attributes of a module, with names."""
    kept = []
    for name, value in vars(module).items():
        if name in ("_parameters", "_buffers", "_modules"):
            continue
        values = value.values() if isinstance(value, dict) else value
        values = values if isinstance(value, (list, tuple, dict)) else (value,)
        tensors = [item for item in values if isinstance(item, torch.Tensor)]
        kept += [(name, tensor) for tensor in tensors if tensor.requires_grad]
    return kept


def find_leaf(tensor):
    """The one leaf that a tensor was made of, itself perhaps; None where there are several."""
    if tensor.is_leaf:
        return tensor
    node = tensor.grad_fn
    for _ in range(WAY):
        inputs = [before for before, _ in node.next_functions if before is not None]
        if len(inputs) != 1:
            break
        node = inputs[0]
        if hasattr(node, "variable"):
            return node.variable
    return None
