"""What is loaded is in the checkpoint."""

import weakref

import torch

from sanitizer_invariants.base import Invariant, total


class LoadsNothing(Invariant):
    """A module that was given a state dictionary of which no name is its own is loaded otherwise before it is used.

    Why: `strict=False` allows names that are missing and names too many. A prefix (`module.`, `model.`) makes all names
    both: nothing is loaded, and training begins from random weights.

    Excepted: modules that change names as they load (hooks, a method of their own), empty dictionaries, and weights
    that have changed until the module is called.

    Cost: a comparison of names for each loading; the sums of all weights where no name fits.
    """

    NAME = "loads-nothing"

    def __init__(self, program, report):
        super().__init__(program, report)
        self.vain = weakref.WeakKeyDictionary()

    def before_load(self, loaded, state):
        if not isinstance(loaded, torch.nn.Module) or not hasattr(state, "keys"):
            return
        names = {name for name, _ in (*loaded.named_parameters(), *loaded.named_buffers())}
        tensors = [name for name, value in state.items() if isinstance(value, torch.Tensor)]
        if names and tensors and not names.intersection(state) and not any(map(renames, loaded.modules())):
            self.vain[loaded] = totals(loaded), len(tensors), self.program.here()

    def before_forward(self, module, arguments, options):
        if self.vain:
            parts = set(module.modules())
            for loaded in [each for each in self.vain if each in parts]:
                before, count, where = self.vain.pop(loaded)
                if totals(loaded) == before:
                    self._say(loaded, count, where)

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
