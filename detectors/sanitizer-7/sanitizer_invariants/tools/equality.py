"""Modules that say themselves what equals them."""

import torch


def has_own_equality(value):
    """Whether a value is a module whose class has its own `==`.

    torch compares modules by identity, and so do the tables of the invariants. A metric may make a
    new metric of `==`: to look it up in a table would build modules in the middle of the program.
    """
    return isinstance(value, torch.nn.Module) and type(value).__eq__ is not object.__eq__
