"""Metrics, and what copies of them give for the updates of the program."""

import copy
import random
import sys
import weakref

import torch

from sanitizer_invariants.tools import copies, isolation
from sanitizer_invariants.tools.invariant import Invariant

# The arguments of an update are kept up to this many numbers.
NUMBERS = 2**22
TOLERANCE, LEAST = 1e-4, 1e-7


class Updates:
    """A copy of a metric from before its first update, and two of its updates that differ."""

    def __init__(self, metric):
        self.metric, self.calls, self.is_tried = weakref.ref(metric), [], False
        self.copy = isolation.duplicate_isolated(metric)

    def note(self, arguments, options):
        """Keep an update, if it is the first one or another one."""
        if len(self.calls) == 2 or is_large((arguments, options)):
            return
        call = isolation.duplicate((arguments, options))
        is_repeated = self.calls and copies.are_identical(self.calls[0], call)
        if call is not None and not is_repeated:
            self.calls.append(call)


class MetricRule(Invariant):
    """An invariant that tries copies of metrics: of a class the first ones only."""

    LIGHT = False
    VERSION = 5
    TRIALS = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.updates, self.trials = {}, {}

    def before_metric(self, name, metric, arguments, options):
        is_over = self.trials.get(type(metric), 0) >= self.TRIALS
        if is_over or copies.is_distributed():
            return
        updates = self.find(metric)
        if updates is None and name == "update":
            # Not by a reset, which may be a part of the constructor.
            updates = self.begin(metric)
        if updates is None or updates.copy is None:
            return
        if name == "update":
            updates.note(arguments, options)
            self.before_update(metric, updates, arguments, options)
        else:
            self.before_reset(metric, updates)

    def before_update(self, metric, updates, arguments, options):
        """Called before an update, which is noted already."""

    def before_reset(self, metric, updates):
        """Called before a reset."""

    def find(self, metric):
        """The updates of a metric, or None."""
        # Some metrics make a new metric of `==`: none is a key.
        updates = self.updates.get(id(metric))
        return updates if updates is not None and updates.metric() is metric else None

    def begin(self, metric):
        """New updates of a metric; None where nothing can refer to it without keeping it."""
        try:
            with copies.unnoticed(self.program):
                updates = self.updates[id(metric)] = Updates(metric)
        except TypeError:
            return None
        return updates

    def begin_trial(self, metric):
        self.trials[type(metric)] = self.trials.get(type(metric), 0) + 1

    def evaluate(self, metric, *steps):
        """What a copy of a metric gives after some steps, as a list of tensors; None where it
        fails, or draws random numbers.
        """
        return copies.attempt(self.program, follow_steps, metric, steps)


def follow_steps(metric, steps):
    """What a copy of a metric gives in the end; a step is an update, "compute" or "reset"."""
    metric, steps = copy.deepcopy((metric, steps))
    before = random_states()
    with torch.no_grad():
        for step in steps:
            if isinstance(step, str):
                getattr(metric, step)()
            else:
                arguments, options = step
                metric.update(*arguments, **options)
        value = metric.compute()
    return list_numbers(value) if are_same_states(before, random_states()) else None


def random_states():
    """The states of all generators that have no owner."""
    numpy, numpy_state = sys.modules.get("numpy"), None
    if numpy is not None:
        _, numbers, *others = numpy.random.get_state()
        numpy_state = numbers.tolist(), others
    return copies.generator_states(), (random.getstate(), numpy_state)


def are_same_states(before, after):
    return before[1] == after[1] and copies.are_identical(before[0], after[0])


def list_numbers(value):
    """The numbers in what a metric has computed, as tensors of double precision."""
    if isinstance(value, (bool, int, float)):
        return [torch.tensor(value, dtype=torch.float64)]
    if isinstance(value, torch.Tensor):
        return [value.detach().to("cpu", torch.float64, copy=True)]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [number for item in value for number in list_numbers(item)]
    is_array = getattr(getattr(value, "dtype", None), "kind", "") in tuple("fiub")
    return list_numbers(torch.as_tensor(value)) if is_array else []


def list_differences(first, second):
    """For each of the numbers whether they differ by more than rounding;
    an empty list where there is nothing to compare.
    """
    if not first or not second:
        return []
    if len(first) != len(second):
        return [True]
    return [is_other(*pair) for pair in zip(first, second)]  # noqa: B905


def is_other(first, second):
    if first.shape != second.shape:
        return True
    is_unequal = ~((first == second) | ((first != first) & (second != second)))
    if not bool(is_unequal.any()):
        return False
    distance = (first - second)[is_unequal].abs()
    size = torch.maximum(first.abs(), second.abs())[is_unequal]
    return not bool((distance <= TOLERANCE * size + LEAST).all())


def describe_first(numbers):
    """The first number of a list of tensors, for a message."""
    first = next((tensor.flatten()[0].item() for tensor in numbers if tensor.numel()), 0.0)
    return f"{first:.6g}"


def describe_api(metric, method):
    """The name of a method of a metric, as `api` wants it."""
    kind = type(metric)
    is_own = kind.__module__ == "__main__"
    return f"{kind.__name__}.{method}" if is_own else f"{kind.__module__}.{kind.__name__}.{method}"


def is_large(value):
    return sum(tensor.numel() for tensor in copies.list_tensors(value)) > NUMBERS
