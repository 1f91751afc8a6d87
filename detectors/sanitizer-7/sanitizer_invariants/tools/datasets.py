"""What datasets are made of, and what their samples are made with."""

import dis
import functools
import types

# What workers call.
CALLED = ("__getitem__", "__getitems__", "__iter__")


def datasets(dataset):
    """A dataset and those that it wraps."""
    nested = [dataset]
    for value in nested:
        inner = getattr(value, "dataset", None)
        if inner is not None and all(inner is not dataset_now for dataset_now in nested):
            nested.append(inner)
    return nested


def find_used_names(kinds, called=CALLED):
    """The names that are used where samples are made, but not set there."""
    attributes = set()
    for definition in find_definitions(kinds, called):
        attributes |= list_names_in(definition.__code__)
    return attributes


def find_definitions(kinds, called=CALLED):
    """The methods that make samples, and those whose names they use."""
    found, following = [], list(called)
    for name in following:
        for definition in definitions(kinds, name):
            found.append(definition)
            names = list_names_in(definition.__code__)
            following += [name for name in sorted(names) if name not in following]
    return found


def definitions(kinds, name):
    """The functions of a name in some classes: methods, and what properties call."""
    members = [vars(base)[name] for kind in kinds for base in kind.__mro__ if name in vars(base)]
    return [
        parameter
        for parameter in map(function, members)
        if isinstance(parameter, types.FunctionType)
    ]


def function(member):
    if isinstance(member, property):
        return member.fget
    return (
        member.func
        if isinstance(member, functools.cached_property)
        else getattr(member, "__func__", member)
    )


def list_names_in(code):
    """The names that code uses and does not set, that of comprehensions and functions inside of it
    included.
    """
    stored = {item.argval for item in dis.get_instructions(code) if item.opname == "STORE_ATTR"}
    inner = [list_names_in(item) for item in code.co_consts if isinstance(item, types.CodeType)]
    return set(code.co_names).union(*inner) - stored
