"""What is loaded is in the checkpoint."""

import weakref

import torch

from sanitizer_invariants.base import Invariant, total


class LoadsNothing(Invariant):
    """A module that was given a state dictionary of which no name is its own is loaded otherwise before it is used.

    Why: `strict=False` allows names that are missing and names too many. A prefix (`module.`, `model.`) makes all names
    both: nothing is loaded, and training begins from random weights.

    Excepted: modules that change names as they load (hooks, a method of their own), empty dictionaries, loadings that
    fail, modules that load what fits before they are called, and weights that have changed until then; tensors that
    another module loads under their names, as of the parts of a model each may be given the whole checkpoint.

    Cost: a comparison of names for each loading, and a reference to each tensor of it; the sums of all weights where no
    name fits.
    """

    NAME = "loads-nothing"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.vain, self.loading, self.fitting = weakref.WeakKeyDictionary(), None, {}

    def before_load(self, loaded, state):
        self.loading = None
        if not isinstance(loaded, torch.nn.Module) or not hasattr(state, "keys"):
            return
        names = {name for name, _ in (*loaded.named_parameters(), *loaded.named_buffers())}
        tensors = {name: value for name, value in state.items() if isinstance(value, torch.Tensor)}
        if not names or not tensors:
            return
        # By number, as `==` of tensors is another thing; a number whose tensor is gone may be that of another.
        given = {id(each): weakref.ref(each) for each in tensors.values()}
        fits = not names.isdisjoint(state) or any(map(renames, loaded.modules()))
        self.loading = given, None if fits else (totals(loaded), len(tensors), self.program.here())

    def after_load(self, loaded):
        """The loading has not failed."""
        loading, self.loading = self.loading, None
        if loading is None:
            return
        given, vain = loading
        if vain is not None:
            self.vain[loaded] = given, *vain
            return
        self.fitting = {key: each for key, each in (*self.fitting.items(), *given.items()) if each() is not None}
        for part in loaded.modules():
            self.vain.pop(part, None)

    def before_forward(self, module, arguments, options):
        if self.vain:
            parts = set(module.modules())
            for loaded in [each for each in self.vain if each in parts]:
                given, before, count, where = self.vain.pop(loaded)
                if totals(loaded) == before and not self._fits_another(given):
                    self._say(loaded, count, where)

    def _fits_another(self, given):
        return any(key in self.fitting and self.fitting[key]() is each() is not None for key, each in given.items())

    def _say(self, loaded, count, where):
        self.report(
            f"of {count} tensors of a state dictionary none has a name of the {type(loaded).__name__} that loads it: "
            "nothing is loaded (is there a prefix?)",
            api="torch.nn.Module.load_state_dict",
            where=where,
        )


def renames(module):
    """Whether a module may find its state under other names."""
    own = type(module)._load_from_state_dict is not torch.nn.Module._load_from_state_dict
    is_torch = type(module).__module__.startswith("torch.nn.modules.")
    return bool(module._load_state_dict_pre_hooks) or (own and not is_torch)


def totals(module):
    return [total(each) for each in module.parameters()]
