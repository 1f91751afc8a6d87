"""A metric does not depend on the order of what it compares."""

import inspect

import torch

from sanitizer_invariants.tools.isolation import duplicate
from sanitizer_invariants.tools.metrics import (
    MetricRule,
    describe_api,
    describe_first,
    list_differences,
)

LEAST = 4
# How the parameters of `update` are called that are predictions.
PREDICTIONS = ("pred", "y_pred", "output", "hypothes", "candidate")


class MetricOrder(MetricRule):
    """A metric of predictions and targets is the same if both come the other way round.

    Why: a metric compares each prediction with its own target. One that sorts predictions and
    targets by something of their own, or puts values back to other places, compares what does not
    belong together.

    Of the first `update` of a metric with predictions (by the name of its parameter) and at least
    one more argument, tensors or lists of four elements or more, all equally many. Copies are
    updated with them, and with all of them from the last to the first: `compute` gives the same
    numbers, or the same numbers from the last to the first.

    Excepted: a ranking with equal scores (what is equal may come in any order); metrics that give
    one of the numbers that they were given, as the last one; what draws random numbers, or whose
    code names something of the program that can change.

    Cost: of a class at most four times two evaluations.
    """

    NAME = "metric-order"
    VERSION = 8

    def before_update(self, metric, updates, arguments, options):
        if not updates.calls or updates.is_tried or not names_predictions(metric):
            return
        updates.is_tried = True
        call = updates.calls[0]
        turned = turn_round(duplicate(call))
        if turned is None or has_equal_scores(call):
            return
        self.begin_trial(metric)
        straight = self.evaluate(updates.copy, "reset", call)
        other = self.evaluate(updates.copy, "reset", turned)
        if not straight or not other or gives_back(straight, call):
            return
        if any(list_differences(straight, other)) and any(list_differences(straight, flip(other))):
            self.report(
                f"{type(metric).__name__} gives {describe_first(straight)} for predictions and "
                f"targets, and {describe_first(other)} for the same ones from the last to the "
                "first: it does not compare each prediction with its own target",
                api=describe_api(metric, "update"),
            )


def names_predictions(metric):
    """Whether `update` calls one of its parameters predictions."""
    try:
        names = list(inspect.signature(metric.update).parameters)
    except (TypeError, ValueError):
        return False
    return any(name.startswith(PREDICTIONS) for name in names)


def list_values(call):
    """The arguments of a call that may have an element for each sample."""
    arguments, options = call
    return [
        value
        for value in (*arguments, *options.values())
        if isinstance(value, (list, torch.Tensor))
    ]


def turn_round(call):
    """A call with all of its elements from the last to the first; None where they are not equally
    many.
    """
    if call is None:
        return None
    values = list_values(call)
    if len(values) < 2 or any(
        isinstance(value, torch.Tensor) and not value.dim() for value in values
    ):
        return None
    if len({len(value) for value in values}) != 1 or len(values[0]) < LEAST:
        return None
    arguments, options = call
    turned = {name: turn(value) for name, value in options.items()}
    return tuple(turn(value) for value in arguments), turned


def turn(value):
    if isinstance(value, torch.Tensor):
        return value.flip(0)
    return value[::-1] if isinstance(value, list) else value


def has_equal_scores(call):
    """Whether one score is there twice: what is equal may come in any order."""
    tensors = [value for value in list_values(call) if isinstance(value, torch.Tensor)]
    scores = [value for value in tensors if value.is_floating_point() and value.dim() == 1]
    return any(len(value.unique()) < len(value) for value in scores)


def flip(numbers):
    return [value.flip(0) if value.dim() else value for value in numbers]


def gives_back(numbers, call):
    """Whether a metric has given one number, and it is one of the elements that it was given."""
    tensors = [value for value in list_values(call) if isinstance(value, torch.Tensor)]
    if len(numbers) != 1 or numbers[0].numel() != 1:
        return False
    return any(bool((value.double().cpu() == numbers[0]).any()) for value in tensors)
