"""A metric gives the same in company as alone."""

import contextlib
import copy
import inspect

import torch

from sanitizer_invariants.tools import copies, hooks, isolation
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.metrics import (
    MetricRule,
    describe_api,
    describe_first,
    is_large,
    list_differences,
    list_numbers,
)

# Which updates are tried, behind the first one: few are enough where labels are not rare.
COUNTS = (2, 3, 10, 50, 200, 1000)


class MetricInCollection(MetricRule):
    """A metric in a collection gives what the same metric gives by itself for the same updates.

    Why: a collection saves calls. What it shares between metrics to save more, states or results
    that were computed before, must not be seen in the values.

    Of objects with `update`, `compute` and `reset` that hold at least two such objects, and compute
    a mapping with a key for each one. Copies from before the first update, of the collection and
    of what it holds, get the first update of the program and a later one, with and without
    `compute` in between; the values differ by more than 1e-4.

    Excepted: members that the collection has not handed its own arguments in the first update;
    what draws random numbers, holds a network, or whose code names something of the program that
    can change.

    Cost: a copy of each collection, and of two of its updates; of a class at most six times two
    short evaluations of all members.
    """

    NAME = "metric-in-collection"
    TRIALS = 6

    def __init__(self, program, report):
        super().__init__(program, report)
        self.counts = IdentityTable()

    def before_update(self, metric, updates, arguments, options):
        count = self.counts[updates] = self.counts.get(updates, 0) + 1
        if count not in COUNTS or len(updates.calls) < 2:
            return
        names = [name for name, _ in list_members(updates.copy)]
        call = isolation.duplicate((arguments, options))
        if len(names) < 2 or call is None or is_large(call):
            return
        self.begin_trial(metric)
        first = updates.calls[0]
        for steps in ([first, call], [first, "compute", call]):
            together = copies.attempt(self.program, compute_together, updates.copy, steps)
            for name in names:
                if together is not None and name in together:
                    self.compare(metric, name, updates.copy, steps, together[name])

    def compare(self, metric, name, collection, steps, numbers):
        member = dict(list_members(collection))[name]
        alone = self.evaluate(member, *[fit(member, step) for step in steps])
        again = self.evaluate(member, *[fit(member, step) for step in steps])
        if alone is None or again is None or any(list_differences(alone, again)):
            return
        if any(list_differences(numbers, alone)):
            self.report(
                f"{type(member).__name__} in {type(metric).__name__} gives "
                f"{describe_first(numbers)} after two updates, and {describe_first(alone)} by "
                "itself after the same two",
                api=describe_api(metric, "update"),
            )


def list_members(collection):
    """The metrics that a collection holds, with their names."""
    holders = [getattr(collection, "_modules", {}), vars(collection)]
    for value in [part for holder in holders for part in holder.values()]:
        if isinstance(value, torch.nn.ModuleDict) and not isolation.is_metric(value):
            holders.append(value._modules)
        elif isinstance(value, dict):
            holders.append(value)
    members = {}
    for holder in holders:
        for name, value in holder.items():
            if isinstance(name, str) and isolation.is_metric(value):
                members.setdefault(name, value)
    return list(members.items())


def compute_together(collection, steps):
    """The numbers of the members that are handed what the collection is."""
    collection, steps = copy.deepcopy((collection, steps))
    members = dict(list_members(collection))
    calls = {}
    with torch.no_grad(), recorded(members.values(), calls):
        for step in steps:
            if isinstance(step, str):
                collection.compute()
            else:
                collection.update(*step[0], **step[1])
        values = collection.compute()
    handed = [
        name
        for name, member in members.items()
        if id(member) in calls and is_handed_on(calls[id(member)], *steps[0])
    ]
    return pair(values, handed)


@contextlib.contextmanager
def recorded(members, calls):
    """Note the first call of `update` of each member by its identity."""
    undo = []
    try:
        for member in members:
            kind = hooks.find_definer(type(member), "update")
            # Where an object has its own `update` its class has another one inside of it.
            holder = member if "update" in vars(member) else kind
            bare = vars(holder)["update"]
            is_new = all(holder is not other for other, _ in undo)
            if is_new:
                undo.append((holder, bare))
                holder.update = record(bare, calls, member if holder is member else None)
        yield
    finally:
        for holder, bare in undo:
            holder.update = bare


def record(bare, calls, owner):
    """An `update`, of an object or of a class, that notes its first call."""

    def update_class(metric, *arguments, **options):
        calls.setdefault(id(metric), (arguments, options))
        return bare(metric, *arguments, **options)

    def update_object(*arguments, **options):
        calls.setdefault(id(owner), (arguments, options))
        return bare(*arguments, **options)

    return update_class if owner is None else update_object


def is_handed_on(call, arguments, options):
    """Whether a member got the arguments of its collection, and no others."""
    own_arguments, own_options = call
    is_same = len(own_arguments) == len(arguments) and set(own_options) <= set(options)
    if not is_same or not copies.are_identical(own_arguments, arguments):
        return False
    return all(copies.are_identical(value, options[name]) for name, value in own_options.items())


def pair(values, names):
    """The numbers of members, by their names, where one key is named after each of them."""
    pairs = {}
    for name in names:
        exact = [key for key in values if key == name]
        keys = exact or [key for key in values if str(key).endswith(name)]
        keys = keys or [key for key in values if str(key).startswith(name)]
        if len(keys) == 1 and not isinstance(values[keys[0]], dict):
            pairs[name] = list_numbers(values[keys[0]])
    return pairs


def fit(member, step):
    """A step without the options that a member has no names for."""
    if isinstance(step, str):
        return step
    arguments, options = step
    names = inspect.signature(member.update).parameters
    is_open = any(part.kind == part.VAR_KEYWORD for part in names.values())
    return arguments, {name: value for name, value in options.items() if is_open or name in names}
