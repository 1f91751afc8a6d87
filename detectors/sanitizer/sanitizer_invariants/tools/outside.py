"""What the code of modules changes outside of them is put back after a trial.

A count of calls in a global, say: what is tried on a copy of a module is no call of the program's.
"""

import collections
import contextlib
import dis
import functools
import inspect
import os
import random
import sys
import threading
import types
from pathlib import Path
from typing import NamedTuple

import torch

from sanitizer_invariants.tools.side_effects import list_code_objects

FUNCTIONS, OBJECTS, NUMBERS = 200, 3000, 2**16
OWN = str(Path(__file__).parents[1]) + os.sep
FOLLOWED = (types.FunctionType, types.MethodType, staticmethod, classmethod, property)
SIMPLE = (
    *FOLLOWED, type(None), bool, int, float, complex, str, bytes, types.BuiltinFunctionType,
    torch.dtype, torch.device, torch.Size,
)  # fmt: skip
# Methods that are called without their names.
CALLED = ("__call__", "__init__", "forward")
CONTAINERS = (dict, list, set, collections.deque)
MISSING = object()


@contextlib.contextmanager
def kept(values):
    """What modules among nested values may change outside of them is afterwards as it was: what
    their code names, and what it comes to from there.

    Seen of globals, attributes of classes, objects, generators of random numbers, and of lists,
    dictionaries, sets and tensors of at most 65536 items; beside other threads of names of globals
    alone. Installed code is not looked at; files and iterators go on.
    """
    named = Named()
    for module in list_modules(values):
        named.follow_module(module)
    # What another thread adds to a list meanwhile would be lost.
    places = named.slots if threading.active_count() > 1 else named.list_places()
    with contextlib.ExitStack() as stack:
        for place in places:
            put_back = remember(place)
            if put_back is not None:
                stack.callback(put_back)
        yield


def list_modules(value, depth=4):
    """The modules in nested lists, tuples and dictionaries."""
    if isinstance(value, torch.nn.Module):
        return [value]
    if type(value) is dict:
        value = list(value.values())
    if depth == 0 or type(value) not in (list, tuple):
        return []
    modules = []
    for item in value:
        modules += list_modules(item, depth - 1)
    return modules


class Names(NamedTuple):
    """The names in code: of globals, of those that it stores, and of attributes."""

    read: frozenset
    stored: frozenset
    attributes: frozenset


@functools.lru_cache(maxsize=4096)
def read_names(code):
    """The names in code, and in the functions that are written inside of it."""
    read, stored, attributes = set(), set(), set()
    kinds = {
        "LOAD_GLOBAL": read, "LOAD_NAME": read, "STORE_GLOBAL": stored, "DELETE_GLOBAL": stored,
        "LOAD_ATTR": attributes, "LOAD_METHOD": attributes, "STORE_ATTR": attributes,
        "DELETE_ATTR": attributes,
    }  # fmt: skip
    for nested in list_code_objects(code):
        for instruction in dis.get_instructions(nested):
            if instruction.opname in kinds:
                kinds[instruction.opname].add(instruction.argval)
    return Names(frozenset(read), frozenset(stored), frozenset(attributes))


class Slot(NamedTuple):
    """A name in a dictionary of globals."""

    scope: dict
    name: str


class Named:
    """What the program's functions name that is outside of their arguments."""

    def __init__(self):
        self.slots, self.objects = [], {}
        # Functions, each with the class that it is a method of.
        self.known, self.waiting = set(), []

    def follow_module(self, module):
        """Go from `forward` of a module and of its parts to all that is named."""
        for part in module.modules():
            # A function that is an attribute is the same in a copy.
            own = [value for value in vars(part).values() if isinstance(value, FOLLOWED)]
            for function in (*own, type(part).forward):
                self._follow(function, type(part))
        while self.waiting and len(self.known) < FUNCTIONS:
            function, owner = self.waiting.pop()
            names = read_names(function.__code__)
            self.slots += [Slot(function.__globals__, name) for name in names.stored]
            for value in list_named(function, owner, names):
                self._note(value, names, owner)

    def _follow(self, function, owner):
        function = getattr(function, "fget", None) or getattr(function, "__func__", function)
        function = inspect.unwrap(function)
        key = id(function), id(owner)
        if isinstance(function, types.FunctionType) and key not in self.known:
            self.known.add(key)
            if is_of_program(function):
                self.waiting.append((function, owner))

    def _note(self, value, names, owner):
        """Note what is named, and follow those methods of it that have a name in the code."""
        if isinstance(value, types.MethodType):
            self._note(value.__self__, names, owner)
        if isinstance(value, FOLLOWED):
            self._follow(value, owner)
        elif isinstance(value, types.ModuleType):
            self._note_members(value, names, owner)
        elif not isinstance(value, SIMPLE) and is_new(value, self.objects):
            kind = value if isinstance(value, type) else type(value)
            for method in list_attributes(kind, names):
                if isinstance(method, FOLLOWED):
                    self._follow(method, kind)

    def _note_members(self, module, names, owner):
        """Note what has a name in the code of a module of the program's."""
        for name in names.attributes & vars(module).keys() if is_of_program(module) else ():
            self.slots.append(Slot(vars(module), name))
            member = vars(module)[name]
            if not isinstance(member, types.ModuleType):
                self._note(member, names, owner)

    def list_places(self):
        """All that may be changed: names of globals, and objects with what they hold."""
        waiting = list(self.objects.values())
        for value in waiting:
            waiting += [part for part in list_held(value) if is_new(part, self.objects)]
            if len(waiting) > OBJECTS:
                break
        return [*self.slots, *waiting]


def is_new(value, objects):
    """Whether a value that may change is not yet among objects, to which it is added."""
    if isinstance(value, SIMPLE) or id(value) in objects:
        return False
    if isinstance(value, (type, types.ModuleType)) and not is_of_program(value):
        return False
    objects[id(value)] = value
    return True


def list_named(function, owner, names):
    """What a function names: of its globals, its closure, its defaults and its class."""
    scope, keywords = function.__globals__, function.__kwdefaults__ or {}
    named = [scope[name] for name in names.read if name in scope]
    for cell in function.__closure__ or ():
        named += [cell, *list_held(cell)]
    kinds = [kind for kind in owner.__mro__ if is_of_program(kind)]
    named += [*(function.__defaults__ or ()), *keywords.values(), *kinds]
    return named + list_attributes(owner, names)


def list_attributes(kind, names):
    """Those attributes of a class of the program's that have a name in code."""
    wanted, members = names.attributes.union(CALLED), []
    for base in filter(is_of_program, kind.__mro__):
        members += [vars(base)[name] for name in wanted if name in vars(base)]
    return members


def list_held(value):
    """What a value holds itself."""
    if isinstance(value, types.CellType):
        try:
            return [value.cell_contents]
        except ValueError:
            return []
    if isinstance(value, (*CONTAINERS, tuple)):
        items = dict.values(value) if isinstance(value, dict) else value
        return list(items) if len(value) <= NUMBERS else []
    if isinstance(value, (type, types.ModuleType, torch.Tensor)):
        return []
    return [vars(value)] if type(getattr(value, "__dict__", None)) is dict else []


def is_of_program(value):
    """Whether the program's own files define a function, a class or a module."""
    if isinstance(value, types.FunctionType):
        path = value.__code__.co_filename
    else:
        name = value.__module__ if isinstance(value, type) else value.__name__
        module = sys.modules.get(name) if isinstance(name, str) else None
        path = getattr(module, "__file__", None) or ("" if name == "__main__" else sys.prefix)
    foreign = (sys.prefix, sys.base_prefix, OWN)
    return not path.startswith(foreign) and "site-packages" not in path


def remember(place):
    """A function that puts a place back as it is now; None for a place of another kind."""
    if isinstance(place, Slot):
        return functools.partial(put_name, place, place.scope.get(place.name, MISSING))
    if isinstance(place, CONTAINERS) and len(place) > NUMBERS:
        return None
    for kinds, read, write in KINDS:
        if isinstance(place, kinds):
            return functools.partial(put_contents, place, read, write, read(place))
    return remember_state(place)


def put_name(slot, before):
    if before is MISSING:
        slot.scope.pop(slot.name, None)
    elif slot.scope.get(slot.name, MISSING) is not before:
        slot.scope[slot.name] = before


def put_contents(place, read, write, before):
    """Write what a place held, if it holds something else."""
    now = read(place)
    is_same = len(now) == len(before) and all(map(is_item, now, before))
    if not is_same:
        write(place, before)


def is_item(first, second):
    """Whether two items, or two pairs of a key and an item, are one."""
    if type(first) is tuple is type(second) and len(first) == len(second) == 2:
        return first[0] is second[0] and first[1] is second[1]
    return first is second


def write_dict(place, pairs):
    base = collections.OrderedDict if isinstance(place, collections.OrderedDict) else dict
    base.clear(place)
    base.update(place, pairs)


def write_set(place, items):
    set.clear(place)
    set.update(place, items)


def write_deque(place, items):
    place.clear()
    place.extend(items)


def write_cell(place, items):
    if items:
        place.cell_contents = items[0]
    else:
        del place.cell_contents


def write_class(place, pairs):
    """Write the attributes of a class that are others."""
    before = dict(pairs)
    for name in vars(place).keys() - before.keys():
        type.__delattr__(place, name)
    for name, value in before.items():
        if vars(place).get(name, MISSING) is not value:
            type.__setattr__(place, name, value)


def list_pairs(place):
    return list(dict.items(place))


# How the contents of a place are read and written.
KINDS = (
    (dict, list_pairs, write_dict),
    (list, list, lambda place, items: list.__setitem__(place, slice(None), items)),
    (set, list, write_set),
    (collections.deque, list, write_deque),
    (types.CellType, list_held, write_cell),
    (type, lambda place: list(vars(place).items()), write_class),
)


def remember_state(place):
    """A function that puts back the state of a generator, or the numbers of a tensor."""
    if isinstance(place, torch.Generator):
        return functools.partial(place.set_state, place.get_state())
    if isinstance(place, random.Random):
        return functools.partial(place.setstate, place.getstate())
    if type(place).__module__.startswith("numpy.random"):
        # A Generator holds its state in another object.
        bits = getattr(place, "bit_generator", place)
        if isinstance(getattr(bits, "state", None), dict):
            return functools.partial(setattr, bits, "state", bits.state)
        return functools.partial(place.set_state, place.get_state())
    is_tensor = type(place) is torch.Tensor and place.layout == torch.strided
    is_plain = is_tensor and not (place.requires_grad or place.is_inference() or place.is_meta)
    if is_plain and place.numel() <= NUMBERS:
        return functools.partial(put_numbers, place, place._version, place.clone())
    return None


def put_numbers(tensor, version, before):
    if tensor._version != version:
        with torch.no_grad():
            tensor.copy_(before)
