"""A metric looks at all predictions."""

import ast
import inspect
import textwrap

from sanitizer_invariants.tools import copies, isolation
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.metrics import MetricRule, describe_api
from sanitizer_invariants.tools.scores import count_classes, exchange, find_scores

# How many updates of a metric have to show the same.
UPDATES = 2
# Methods that pick a place on purpose.
PICKING = ("select", "narrow", "index_select", "unbind")


class MetricIgnores(MetricRule):
    """A metric of scores and labels is not the same to the last bit whether all predictions but the
    first ones of an axis are right or wrong.

    Why: what is compared with labels counts. An index that is written to the first place for all
    places leaves nothing of the others, and the value goes on to look like one.

    Of `update` with scores of classes and with a label for each. In copies the score of the label
    is exchanged with the highest one, or with the lowest one, at all places of an axis but the
    first: the metric stays what it was, in two updates that differ. The same at the first place
    changes it.

    Excepted: labels that are the same at all other places, as padding is; updates with further
    tensors, such as masks; an `update` or `compute` that takes a place by a number, `x[:, 0]`; what
    draws random numbers, holds a network, or whose code names something of the program that can
    change.

    Cost: of a class at most four times two evaluations for each axis, and two more.
    """

    NAME = "metric-ignores"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.ignored = IdentityTable()

    def before_update(self, metric, updates, arguments, options):
        ignored = self.ignored.setdefault(updates, [])
        # An update that was too large, or came before, is not noted.
        if len(updates.calls) == len(ignored):
            return
        call = updates.calls[-1]
        pair = find_scores(copies.list_tensors(call))
        axes = set(self.list_ignored(updates.copy, call, pair)) if pair is not None else set()
        ignored.append(axes)
        if pair is not None:
            self.begin_trial(metric)
        if len(ignored) == UPDATES:
            self.judge(metric, set.intersection(*ignored))

    def judge(self, metric, axes):
        if not axes or picks_places(type(metric)):
            return
        self.report(
            f"{type(metric).__name__} is the same to the last bit whether all predictions but the "
            f"first along axis {min(axes)} of the labels are right or wrong: it does not look at "
            "them",
            api=describe_api(metric, "update"),
        )

    def list_ignored(self, metric, call, pair):
        """The axes of the labels of which a metric sees the first place alone."""
        labels = copies.list_tensors(call)[pair.labels]
        for axis in range(labels.dim()):
            if not varies_behind_first(labels, axis, count_classes(call, pair)):
                continue
            behind = self.evaluate_both(metric, call, pair, (axis, True))
            if behind is None or not copies.are_identical(*behind):
                continue
            first = self.evaluate_both(metric, call, pair, (axis, False))
            if first is not None and not copies.are_identical(*first):
                yield axis

    def evaluate_both(self, metric, call, pair, places):
        """What a metric gives where some predictions are right, and where they are wrong."""
        values = []
        for is_right in (True, False):
            changed = isolation.duplicate(call)
            exchange(copies.list_tensors(changed), pair, is_right, places)
            values.append(self.evaluate(metric, "reset", changed))
        return None if not all(values) else values


def varies_behind_first(labels, axis, classes):
    """Whether there are several labels of classes behind the first place of an axis."""
    if labels.shape[axis] < 2:
        return False
    others = labels.narrow(axis, 1, labels.shape[axis] - 1)
    values, counts = others[(others >= 0) & (others < classes)].unique(return_counts=True)
    return len(values) > 1 and int(counts.min()) > 0


def picks_places(kind):
    """Whether the code of a class of metrics takes a place by its number."""
    for name in ("update", "compute"):
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(getattr(kind, name))))
        except (OSError, TypeError, SyntaxError):
            continue
        if any(is_picking(node) for node in ast.walk(tree)):
            return True
    return False


def is_picking(node):
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in PICKING
    if not isinstance(node, ast.Subscript) or getattr(node.value, "attr", "") == "shape":
        return False
    constants = [part for part in ast.walk(node.slice) if isinstance(part, ast.Constant)]
    return any(type(constant.value) is int for constant in constants)
