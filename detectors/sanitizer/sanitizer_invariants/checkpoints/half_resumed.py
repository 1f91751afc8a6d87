"""A training goes on with the averages of its optimizer."""

import weakref
from collections.abc import Mapping

import torch

from sanitizer_invariants.checkpoints.loads_itself import is_of_checkpoint
from sanitizer_invariants.tools.files import Files
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, list_parameters

DEPTH = 4
# What says nothing of how an optimizer moves.
OTHERS = ("params", "param_names", "lr", "initial_lr")


class HalfResumed(Invariant):
    """A training that goes on from a checkpoint has the state of its optimizer from there, too.

    Why: `Adam` and `SGD` with momentum move by averages over many steps. Where weights and schedule
    are those of the checkpoint, and the averages are empty, the first steps are as large as those
    of a new training, with the rate of an old one.

    An error where the optimizer that the state was loaded into never steps, as a new one of the
    same class and options was made for the same parameters; and where the weights and the state of
    the schedule are loaded from a file, and not the state of the optimizer, which is there. Advice
    where weights alone are loaded, and the optimizer has the class, the parameters and the options
    of the one in the file, with its rate: it may be another training that begins from these
    weights.

    Of files that `torch.load` has read, at the first step of an optimizer without a state.

    Cost: a look through what a file holds, and at the first step of an optimizer.
    """

    NAME = "half-resumed"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.files, self.saved, self.loaded = Files(), [], []
        self.schedules, self.scheduled = {}, IdentityTable()
        self.stepped = IdentitySet()

    def after_read(self, content):
        number = self.files.note(content)
        for state in list_states(content):
            if "param_groups" in state:
                self.saved.append(Saved(number, state))
            else:
                self.schedules[id(state)] = number

    def before_load(self, loaded, state):
        if isinstance(loaded, torch.optim.Optimizer):
            # Whoever loads any state knows of it.
            self.saved = []
            if any(self.files.find(tensor) for tensor in list_averages(state).values()):
                self.loaded.append(Loaded(loaded, self.program.here()))
        elif isinstance(loaded, torch.nn.Module) and self.saved and hasattr(state, "get"):
            for name, parameter in loaded.named_parameters():
                number = self.files.find(state.get(name))
                for saved in self.saved:
                    if number == saved.number:
                        saved.parameters[id(parameter)] = weakref.ref(parameter)
        elif id(state) in self.schedules and hasattr(loaded, "optimizer"):
            self.scheduled[loaded.optimizer] = self.schedules[id(state)]

    def before_step(self, optimizer):
        if optimizer in self.stepped:
            return
        self.stepped.add(optimizer)
        others = [loaded for loaded in self.loaded if loaded.optimizer() is not optimizer]
        self.loaded = others
        if not (self.saved or others) or len(optimizer.state) or is_of_checkpoint():
            return
        for loaded in others:
            if loaded.is_like(optimizer):
                self._report_another(optimizer, loaded)
                return
        for saved in self.saved:
            if saved.fits(optimizer):
                self._report_missing(optimizer, saved)
                return

    def _report_another(self, optimizer, loaded):
        name = type(optimizer).__name__
        self.report(
            f"the state of a checkpoint was loaded into one {name}, and another one of the same "
            "options, with no state, makes the steps",
            api="torch.optim.Optimizer.load_state_dict",
            where=loaded.where,
        )

    def _report_missing(self, optimizer, saved):
        name, what = type(optimizer).__name__, "the weights"
        if self.scheduled.get(optimizer) == saved.number:
            what, severity = "the weights and the schedule", "error"
        elif saved.has_rate(optimizer):
            severity = "info"
        else:
            return
        self.report(
            f"{what} come from a checkpoint, and the state of the optimizer that it holds is not "
            f"loaded: this {name} begins without the averages of the steps before",
            api="torch.optim.Optimizer.load_state_dict",
            severity=severity,
        )


class Saved:
    """The state of an optimizer in a file: its shapes and options, and the parameters of this
    program that were loaded from the same file.
    """

    def __init__(self, number, state):
        self.number, self.parameters = number, {}
        self.shapes = {key: tensor.shape for key, tensor in list_averages(state).items()}
        groups = state["param_groups"]
        self.numbers = [number for group in groups for number in group["params"]]
        self.options, self.rates = list_options(groups), list_rates(groups)

    def fits(self, optimizer):
        """Whether this may be the state of an optimizer, whose weights are from this file."""
        parameters = list_parameters(optimizer)
        if not self.shapes or len(parameters) != len(self.numbers):
            return False
        if self.options != list_options(optimizer.param_groups):
            return False
        for number, parameter in zip(self.numbers, parameters):  # noqa: B905
            reference = self.parameters.get(id(parameter))
            is_loaded = reference is not None and reference() is parameter
            if not is_loaded or self.shapes.get(number, parameter.shape) != parameter.shape:
                return False
        return True

    def has_rate(self, optimizer):
        return self.rates == list_rates(optimizer.param_groups)


class Loaded:
    """An optimizer that has loaded a state from a file."""

    def __init__(self, optimizer, where):
        self.optimizer, self.where = weakref.ref(optimizer), where
        self.kind, self.defaults = type(optimizer), str(optimizer.defaults)
        self.parameters = list(map(weakref.ref, list_parameters(optimizer)))

    def is_like(self, optimizer):
        """Whether another optimizer has the same class, options and parameters."""
        parameters = {id(parameter) for parameter in list_parameters(optimizer)}
        is_same = parameters == {id(reference()) for reference in self.parameters}
        is_kind = type(optimizer) is self.kind
        return is_same and is_kind and str(optimizer.defaults) == self.defaults


def list_states(content, depth=DEPTH):
    """The states of optimizers and of schedules that nested values hold."""
    if isinstance(content, Mapping):
        if isinstance(content.get("param_groups"), list) and "state" in content:
            return [content]
        if "last_epoch" in content and "_step_count" in content:
            return [content]
        content = list(content.values())
    if not isinstance(content, (list, tuple)) or depth == 0:
        return []
    return [state for item in content for state in list_states(item, depth - 1)]


def list_averages(state):
    """A tensor of the state of each parameter that has one, by the parameter's number."""
    averages = {}
    entries = state.get("state") if isinstance(state, Mapping) else None
    for number, values in entries.items() if isinstance(entries, Mapping) else ():
        for value in values.values() if isinstance(values, Mapping) else ():
            if isinstance(value, torch.Tensor) and value.dim():
                averages[number] = value
                break
    return averages


def list_options(groups):
    """What groups say of how to move, without the rates."""
    return [list_items(group) for group in groups]


def list_items(group):
    return [(name, str(group[name])) for name in sorted(group) if name not in OTHERS]


def list_rates(groups):
    return [float(group.get("initial_lr", group["lr"])) for group in groups]
