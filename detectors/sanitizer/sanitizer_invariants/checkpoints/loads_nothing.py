"""What is loaded is in the checkpoint."""

import weakref

import torch

from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, checksum_of


class LoadsNothing(Invariant):
    """A module that was given a state dictionary of which no name is its own is loaded otherwise
    before it is used.

    Why: `strict=False` allows names that are missing and names too many. A prefix (`module.`,
    `model.`) makes all names both: nothing is loaded, and training begins from random weights.

    Excepted: modules that change names as they load (hooks, a method of their own), empty
    dictionaries, loadings that fail, modules that load what fits before they are called, and
    weights that have changed until then; tensors that another module loads under their names, as of
    the parts of a model each may be given the whole checkpoint.

    Cost: a comparison of names for each loading, and a reference to each tensor of it; the sums of
    all weights where no name fits.
    """

    NAME = "loads-nothing"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.pending, self.loading, self.fitting = IdentityTable(), None, {}

    def before_load(self, loaded, state):
        self.loading = None
        if not isinstance(loaded, torch.nn.Module) or not hasattr(state, "keys"):
            return
        names = {name for name, _ in (*loaded.named_parameters(), *loaded.named_buffers())}
        tensors = {name: value for name, value in state.items() if isinstance(value, torch.Tensor)}
        if not names or not tensors:
            return
        # By number, as `==` of tensors is another thing; a number whose tensor is gone may be that
        # of another.
        references = {id(tensor): weakref.ref(tensor) for tensor in tensors.values()}
        fits = not names.isdisjoint(state) or any(map(has_own_loading, loaded.modules()))
        self.loading = (
            references,
            None if fits else (compute_checksums(loaded), len(tensors), self.program.here()),
        )

    def after_load(self, loaded):
        """The loading has not failed."""
        loading, self.loading = self.loading, None
        if loading is None:
            return
        references, vain = loading
        if vain is not None:
            self.pending[loaded] = references, *vain
            return
        self.fitting = {
            key: item
            for key, item in (*self.fitting.items(), *references.items())
            if item() is not None
        }
        for part in loaded.modules():
            self.pending.pop(part, None)

    def before_forward(self, module, arguments, options):
        if self.pending:
            parts = set(map(id, module.modules()))
            for loaded in [
                loaded_module for loaded_module in self.pending if id(loaded_module) in parts
            ]:
                references, before, count, where = self.pending.pop(loaded)
                if compute_checksums(loaded) == before and not self._fits_another(references):
                    self._report(loaded, count, where)

    def _fits_another(self, references):
        return any(
            key in self.fitting and self.fitting[key]() is reference() is not None
            for key, reference in references.items()
        )

    def _report(self, loaded, count, where):
        self.report(
            f"of {count} tensors of a state dictionary none has a name of the "
            f"{type(loaded).__name__} that loads it: nothing is loaded (is there a prefix?)",
            api="torch.nn.Module.load_state_dict",
            where=where,
        )


def has_own_loading(module):
    """Whether a module may find its state under other names."""
    is_overridden = type(module)._load_from_state_dict is not torch.nn.Module._load_from_state_dict
    is_torch = type(module).__module__.startswith("torch.nn.modules.")
    return bool(module._load_state_dict_pre_hooks) or (is_overridden and not is_torch)


def compute_checksums(module):
    return [checksum_of(parameter) for parameter in module.parameters()]
