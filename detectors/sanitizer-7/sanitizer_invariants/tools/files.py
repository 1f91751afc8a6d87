"""Which tensors were read from a file."""

import weakref

from sanitizer_invariants.tools import copies


class Files:
    """The tensors that `torch.load` has read and that are still there, with the number of the
    file.
    """

    def __init__(self):
        self.tensors, self.count = {}, 0

    def note(self, content):
        """Remember the tensors of a file; returns its number."""
        self.count += 1
        # By number, as `==` of tensors is another thing; a number whose tensor is gone may be that
        # of another.
        entries = {key: entry for key, entry in self.tensors.items() if entry[0]() is not None}
        for tensor in copies.list_tensors(content):
            entries[id(tensor)] = weakref.ref(tensor), self.count
        self.tensors = entries
        return self.count

    def find(self, tensor):
        """The number of the file that a tensor was read from, or None."""
        reference, number = self.tensors.get(id(tensor), (None, None))
        return number if reference is not None and reference() is tensor else None
