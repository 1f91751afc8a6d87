"""One batch of a training, for tools that are called by hand with a model, a batch, a loss and an optimizer.

A tool gets them once for each optimizer, after its first step: then no graph is pending, and the batch, the model and
the loss of that step are known. Until an optimizer has been handed over, each of its first `TRIES` steps is tried.

The loss is known in two cases: the model returns it, or one loss function of `torch.nn.functional` was called on what
the model returned, or on a view of that. Whatever the program adds to it or divides it by is not seen.

The files of this name in several detectors are the same.
"""

import contextlib
import copy
import weakref

import torch
import torch.nn.functional as F  # noqa: N812
from torch.nn.parallel import DistributedDataParallel
from torch.utils._pytree import tree_flatten, tree_map

TRIES = 5
# The code of the alarm that says that the tool got nothing; the adapter makes a status of it.
NOTHING = "nothing-handed-over"


class Batch:
    """A call of a model: what it got, and how its loss is made of what it returned."""

    def __init__(self, arguments, options):
        self.module = None
        self.arguments, self.options = copies((arguments, options))
        self.outputs, self.losses = [], []

    @property
    def model(self):
        """The model without a wrapper that talks to other processes."""
        return self.module.module if isinstance(self.module, DistributedDataParallel) else self.module

    def call(self):
        """Call the model, or its wrapper, with what it got."""
        return self.module(*self.arguments, **self.options)

    @property
    def loss(self):
        """The one loss that was seen; None if there was none, or more than one."""
        return self.losses[0] if len(self.losses) == 1 else None

    def end(self, output):
        """Look whether the model has returned its loss: one number with gradients."""
        self.outputs = tree_flatten(output)[0]
        numbers = [place for place, tensor in enumerate(self.outputs) if is_number(tensor)]
        if len(numbers) == 1:
            self.losses.append(ReturnedLoss(numbers[0]))

    def hear(self, name, arguments):
        """A loss function was called."""
        for output_name, target_name in (("input", "target"), ("target", "input")):
            seen, target = arguments.get(output_name), arguments.get(target_name)
            place = self.place_of(seen)
            if place is not None and self.place_of(target) is None:
                loss = CalledLoss(name, arguments, place, self.outputs, (output_name, target_name))
                self.losses.append(loss)
                return

    def place_of(self, tensor):
        """Which of the outputs this is, or is a view of."""
        if not isinstance(tensor, torch.Tensor):
            return None
        for place, output in enumerate(self.outputs):
            if output is tensor:
                return place
            if isinstance(output, torch.Tensor) and output.requires_grad and shares_memory(output, tensor):
                return place
        return None


class ReturnedLoss:
    """The loss that a model returns."""

    targets = None

    def __init__(self, place):
        self.place = place

    def __call__(self, output, targets=None):
        return tree_flatten(output)[0][self.place]


class CalledLoss:
    """A loss function that was called on an output of the model, or on a view of it."""

    def __init__(self, name, arguments, place, outputs, names):
        self.function, self.place = getattr(F, name), place
        output, self.has_one_output = outputs[place], len(outputs) == 1
        self.output_name, self.target_name = names
        self.rest = {key: value for key, value in arguments.items() if key not in names}
        seen = arguments[self.output_name]
        self.view, self.is_whole = view_of(output, seen), seen is output
        self.targets = copies(arguments[self.target_name])

    def __call__(self, output, targets):
        tensor = self.view(tree_flatten(output)[0][self.place])
        return self.function(**{self.output_name: tensor, self.target_name: targets}, **self.rest)


def view_of(output, seen):
    """A function that makes of another output what was made of this one."""
    if seen is output:
        return lambda tensor: tensor
    size, stride = tuple(seen.shape), tuple(seen.stride())
    if seen.numel() == output.numel() and seen.is_contiguous() and output.is_contiguous():
        return lambda tensor: tensor.reshape(-1, *size[1:]) if size else tensor.reshape(())
    offset = seen.storage_offset() - output.storage_offset()
    return lambda tensor: tensor.as_strided(size, stride, tensor.storage_offset() + offset)


def shares_memory(first, second):
    return first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr() != 0


def is_number(value):
    return isinstance(value, torch.Tensor) and value.dim() == 0 and value.requires_grad


def copies(tree):
    """The same with copies of its tensors, which have no history."""

    def copied(value):
        if not isinstance(value, torch.Tensor):
            return value
        return value.detach().clone().requires_grad_(value.requires_grad)

    return tree_map(copied, tree)


class HandOver:
    """Watches a program until each optimizer has made a step, and calls `use(batch, optimizer)`.

    `use` returns whether the batch was one for the tool.
    """

    def __init__(self, program, emit, use):
        self.program, self.emit, self.use = program, emit, use
        self.batches = weakref.WeakKeyDictionary()
        self.tries = weakref.WeakKeyDictionary()
        self.is_used, self.is_done = False, False

    def before_forward(self, module, arguments, options):
        if self.is_done or not torch.is_grad_enabled() or next(module.parameters(), None) is None:
            return
        self.batches[module] = Batch(arguments, options)

    def after_forward(self, module, arguments, options, output):
        batch = self.batches.get(module)
        if batch is not None and torch.is_grad_enabled():
            batch.end(output)

    def after_loss(self, name, arguments, output):
        for batch in list(self.batches.values()):
            batch.hear(name, arguments)

    def after_step(self, optimizer):
        tries = self.tries.get(optimizer, 0)
        if tries < TRIES:
            self.tries[optimizer] = tries + 1
            if self.hand_over(optimizer):
                self.tries[optimizer] = TRIES
        live = self.program.optimizers()
        self.is_done = all(self.tries.get(each, 0) >= TRIES for each in live)
        if self.is_done:
            self.batches.clear()

    def hand_over(self, optimizer):
        module = self.module_of(optimizer)
        if module is None:
            return False
        batch = self.batches[module]
        batch.module, batch.outputs = module, []
        with self.program.undisturbed(), torch.enable_grad(), preserved(batch.model, optimizer):
            is_used = self.use(batch, optimizer)
        self.is_used = self.is_used or is_used
        return is_used

    def module_of(self, optimizer):
        """The called module that holds all parameters of the optimizer; else the only one that was called."""
        ids = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
        called = list(self.batches)
        owners = [module for module in called if ids <= set(map(id, module.parameters()))]
        if owners:
            return owners[-1]
        return called[0] if len(called) == 1 else None

    def end(self):
        if self.tries and not self.is_used:
            self.emit(NOTHING, "no step had one model, one batch and what else the tool wants", severity="info")


@contextlib.contextmanager
def preserved(model, optimizer):
    """What the tool does to model and optimizer is undone: tensors, gradients, the optimizer's state, modes."""
    in_optimizer = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    tensors = list({id(tensor): tensor for tensor in (*model.parameters(), *model.buffers(), *in_optimizer)}.values())
    values = [tensor.detach().clone() for tensor in tensors]
    gradients = [tensor.grad for tensor in tensors]
    modes = [(module, module.training) for module in model.modules()]
    attributes, groups = dict(vars(optimizer)), [dict(group) for group in optimizer.param_groups]
    optimizer.state = copy_of_state(optimizer.state)
    for tensor, gradient in zip(tensors, gradients, strict=True):
        if gradient is not None:
            tensor.grad = gradient.detach().clone()
    try:
        yield
    finally:
        vars(optimizer).update(attributes)
        for group, saved in zip(optimizer.param_groups, groups, strict=True):
            group.clear()
            group.update(saved)
        with torch.no_grad():
            for tensor, value, gradient in zip(tensors, values, gradients, strict=True):
                tensor.copy_(value)
                tensor.grad = gradient
        for module, is_training in modes:
            module.training = is_training


def copy_of_state(state):
    """The state of an optimizer, whose keys are the parameters themselves."""
    copied = type(state)(state.default_factory) if hasattr(state, "default_factory") else {}
    for key, value in state.items():
        copied[key] = copy.deepcopy(value)
    return copied
