"""Parts of a network that share a parameter go on to do so."""

import weakref

import torch
from torch.utils.weak import WeakIdKeyDictionary

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, is_sampled


class Untied(Invariant):
    """Two parts of a network that shared a parameter before it was loaded or moved, or as it was
    first trained, have one at each later call in training.

    Why: who gives two layers one weight means it. `to_empty()` of what is on the device "meta",
    `load_state_dict(..., assign=True)` and a part that is copied make two parameters of one: from
    then on each is trained by itself, with a part of the gradient.

    The same holds of a parameter of one module that was assigned to another one, where neither got
    another by assignment: who loads by writing into `_parameters` has replaced one of the two.

    Seen at calls in training mode with gradients, where both parts are there, with parameters of
    one shape under their names, which are not the same.

    Excepted: what is tied again before it is called; parameters whose name or shape has
    changed; frozen ones.

    Cost: an entry for each parameter that a module gets; a look at the parameters of a module at
    each loading and conversion and at the first call in training; after it at those that are
    shared, at each 50th.
    """

    NAME = "untied"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.ties, self.calls = IdentityTable(), IdentityTable()
        self.before, self.lost = [], []
        self.owners, self.assigned = WeakIdKeyDictionary(), {}

    def before_parameter(self, module, name, parameter):
        place = Holder(module, name)
        # What had another parameter has it no more, on purpose.
        for key in [key for key, pair in self.assigned.items() if place in pair]:
            del self.assigned[key]
        first = self.owners.setdefault(parameter, place)
        if first != place and first.module() is not None:
            self.assigned[first, place] = (first, place)

    def before_load(self, loaded, state):
        self.before = list_ties(loaded) if isinstance(loaded, torch.nn.Module) else []

    def after_load(self, loaded):
        self._compare("load_state_dict")

    def before_convert(self, module):
        self.before = list_ties(module)

    def after_convert(self, module):
        self._compare("to_empty")

    def _compare(self, function):
        """Note the ties that a function has cut."""
        before, self.before = self.before, []
        for tie in before:
            if tie.is_lost():
                tie.api, tie.where = f"torch.nn.Module.{function}", self.program.here()
                self.lost.append(tie)

    def before_forward(self, module, arguments, options):
        module = copies.unwrap(module)
        if not torch.is_grad_enabled() or not module.training:
            return
        self.calls[module] = self.calls.get(module, 0) + 1
        if module not in self.ties:
            self.ties[module] = [*list_ties(module), *self._list_assigned(module)]
        if self.lost or (self.ties[module] and is_sampled(self.calls[module], 50)):
            self._look_at(module)

    def _list_assigned(self, module):
        """The ties of a module by parameters of one part that another part was assigned."""
        if not self.assigned:
            return []
        paths = {id(part): path for path, part in module.named_modules()}
        places = [find_places(pair, paths) for pair in self.assigned.values()]
        whole = [pair for pair in places if None not in (pair[0][0], pair[1][0])]
        return [Tie(module, *pair) for pair in whole]

    def _look_at(self, module):
        self.lost = [tie for tie in self.lost if tie.is_lost()]
        lost = [tie for tie in self.ties[module] if tie.is_lost()]
        prefixes = {id(part): name for name, part in module.named_modules()}
        for tie in (*self.lost, *lost):
            paths = tie.find_paths(prefixes)
            if paths is not None:
                self.report(
                    f"{paths[0]} and {paths[1]} were one parameter of the {type(module).__name__}, "
                    "and are two now: each is trained by itself",
                    api=tie.api,
                    parameter=paths[1],
                    where=tie.where,
                )
                self.lost, self.ties[module] = [], []
                return


class Holder:
    """A module that has a parameter under a name."""

    def __init__(self, module, name):
        self.module, self.name, self.key = weakref.ref(module), name, (id(module), name)

    def __eq__(self, other):
        return self.key == other.key and self.module() is other.module()

    def __hash__(self):
        return hash(self.key)


class Tie:
    """Two places of a module that have the same parameter; and what has cut them, if that was
    seen.
    """

    def __init__(self, module, first, second):
        self.module, self.places = weakref.ref(module), (first, second)
        self.api, self.where = None, None

    def is_lost(self):
        """Whether both places have a parameter of the same shape, and not the same."""
        first, second = (find_parameter(self.module(), *place) for place in self.places)
        if first is None or second is None or not (first.requires_grad or second.requires_grad):
            return False
        return first is not second and first.shape == second.shape

    def find_paths(self, prefixes):
        """The names of both places in a network; None where the module is no part of it."""
        if id(self.module()) not in prefixes:
            return None
        prefix = prefixes[id(self.module())]
        return [".".join(filter(None, (prefix, *place))) for place in self.places]


def find_parameter(module, path, name):
    """The parameter at a place of a module, or None."""
    for word in filter(None, path.split(".")):
        if isinstance(module, torch.jit.ScriptModule):
            return None
        module = module and module._modules.get(word)
    if module is None or isinstance(module, torch.jit.ScriptModule):
        return None
    parameter = module._parameters.get(name)
    return parameter if isinstance(parameter, torch.Tensor) else None


def list_ties(module):
    """The places of a module that have the same parameter."""
    places, ties = {}, []
    for path, part in module.named_modules():
        if isinstance(part, torch.jit.ScriptModule):
            continue
        for name, parameter in part._parameters.items():
            if parameter is None:
                continue
            first = places.setdefault(id(parameter), (path, name))
            if first != (path, name):
                ties.append(Tie(module, first, (path, name)))
    return ties


def find_places(holders, paths):
    """Path and name of the parameters that holders have; the path is None where it is not known."""
    return [(paths.get(id(holder.module())), holder.name) for holder in holders]
