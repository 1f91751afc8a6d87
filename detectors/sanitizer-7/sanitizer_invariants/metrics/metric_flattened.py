"""A metric of sequences is the metric of their places."""

from sanitizer_invariants.tools import copies, isolation
from sanitizer_invariants.tools.metrics import (
    MetricRule,
    describe_api,
    describe_first,
    list_differences,
)
from sanitizer_invariants.tools.scores import exchange, find_scores

PERFECT = (0.0, 1.0, 100.0)


class MetricFlattened(MetricRule):
    """Right predictions for all places of sequences or images have the value that the same
    predictions have in a row.

    Why: right is right in whatever shape. A metric that takes an axis of places for the axis of
    classes, or writes the classes of one place to another, says less.

    Of `update` with scores of classes and a label for each place, of at least two axes. In a copy
    the score of each label is exchanged with the highest one. If the metric accepts them in a row,
    and gives 0, 1 or 100 for that, it gives the same for them as they are, but for 1e-4.

    Excepted: metrics that shift predictions and labels against each other (they do not accept a
    row), and those with a value for each sample; updates with further tensors, such as masks; what
    draws random numbers, holds a network, or whose code names something of the program that can
    change.

    Cost: of a class at most four times two short evaluations.
    """

    NAME = "metric-flattened"

    def before_update(self, metric, updates, arguments, options):
        if not updates.calls or updates.is_tried:
            return
        updates.is_tried = True
        right = isolation.duplicate(updates.calls[0])
        tensors = copies.list_tensors(right)
        pair = find_scores(tensors)
        if pair is None or tensors[pair.labels].dim() < 2:
            return
        self.begin_trial(metric)
        exchange(tensors, pair, is_right=True)
        shaped = self.evaluate(updates.copy, "reset", right)
        flat = self.evaluate(updates.copy, "reset", (flatten(right[0], pair), right[1]))
        is_comparable = is_single(shaped) and is_single(flat) and is_perfect(flat)
        if is_comparable and any(list_differences(shaped, flat)):
            self.report(
                f"{type(metric).__name__} gives {describe_first(shaped)} for right predictions of "
                f"shape {tuple(tensors[pair.scores].shape)}, and {describe_first(flat)} for the "
                "same ones in a row",
                api=describe_api(metric, "update"),
            )


def flatten(arguments, pair):
    """Scores and labels with one axis for all places."""
    tensors = copies.list_tensors(arguments)
    if len(tensors) != len(arguments):
        return arguments
    scores = tensors[pair.scores].movedim(pair.axis, -1)
    flat = [tensor.flatten() for tensor in tensors]
    flat[pair.scores] = scores.reshape(-1, scores.shape[-1])
    return tuple(flat)


def is_single(numbers):
    """Whether a metric has given a single number."""
    return bool(numbers) and len(numbers) == 1 and numbers[0].numel() == 1


def is_perfect(numbers):
    """Whether a number stands for no fault, or for full marks."""
    return round(numbers[0].item(), 6) in PERFECT
