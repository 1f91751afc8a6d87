"""Tables and sets of the program's objects, by identity."""

import weakref
from collections.abc import MutableMapping, MutableSet


class IdentityTable(MutableMapping):
    """Values for objects that it does not keep.

    The class of an object may define `==` and a hash: these may fail, take long, or say that two
    objects are one. Neither is asked for. An object that no weak reference can be to is left out.
    """

    def __init__(self):
        # By the number of each object: a reference to it, and its value.
        self._entries = {}

    def __getitem__(self, key):
        reference, value = self._entries[id(key)]
        if reference() is not key:
            raise KeyError(id(key))
        return value

    def __setitem__(self, key, value):
        entry = self._entries.get(id(key))
        reference = entry[0] if entry is not None and entry[0]() is key else self._refer_to(key)
        if reference is not None:
            self._entries[id(key)] = reference, value

    def __delitem__(self, key):
        self[key]
        del self._entries[id(key)]

    def __iter__(self):
        # An object may go while others are looked at.
        for reference, _ in list(self._entries.values()):
            key = reference()
            if key is not None:
                yield key

    def __len__(self):
        return len(self._entries)

    def items(self):
        """The objects that there still are, with their values."""
        pairs = [(reference(), value) for reference, value in list(self._entries.values())]
        return [(key, value) for key, value in pairs if key is not None]

    def values(self):
        return [value for _, value in self.items()]

    def _refer_to(self, key):
        """A reference that removes its entry when the object goes; None where there can be none."""
        number, entries = id(key), weakref.ref(self)

        def remove(reference):
            table = entries()
            # Another object may have the number by now.
            if table is not None and table._entries.get(number, (None,))[0] is reference:
                del table._entries[number]

        try:
            return weakref.ref(key, remove)
        except TypeError:
            return None


class IdentitySet(MutableSet):
    """Objects that it does not keep, by identity, as those of an IdentityTable."""

    def __init__(self, members=()):
        self._table = IdentityTable()
        self.update(members)

    def __contains__(self, member):
        return member in self._table

    def __iter__(self):
        return iter(self._table)

    def __len__(self):
        return len(self._table)

    def update(self, members):
        for member in members:
            self.add(member)

    def add(self, member):
        self._table[member] = True

    def discard(self, member):
        self._table.pop(member, None)
