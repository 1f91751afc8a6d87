"""The groups of an optimizer hold what their options say."""

from torch import nn

from sanitizer_invariants.tools.identity import IdentitySet
from sanitizer_invariants.tools.invariant import Invariant

NORMALISATIONS = (
    nn.LayerNorm, nn.GroupNorm, nn.modules.batchnorm._BatchNorm,
    nn.modules.instancenorm._InstanceNorm,
)  # fmt: skip
# Classes of others have the word in their names, and a weight with one axis.
WORD = "norm"


class DecayGroups(Invariant):
    """A group without weight decay, in an optimizer that decays others, holds the vectors of the
    model: it is not empty where there are normalisations, and has all of their weights or none.

    Why: such groups are made by names or by classes of modules. Where a pattern fits no name, or
    those of some layers alone, the rest is decayed in silence, and a weight of a normalisation that
    should stay about one is drawn to zero. The group is made for nothing.

    Seen at the first step of an optimizer: one group with `weight_decay` of 0, or several, and
    others with more; each parameter without decay has one axis at most. The group is empty, while
    weights of normalisations are decayed; or it has weights of some normalisations of a kind and
    lacks others of the same kind and the same rate, in a part of the model of which it has some
    vectors.

    Excepted: groups without decay that hold matrices too (whole parts of a model, as a new head);
    an optimizer that has no weights of normalisations; frozen normalisations.

    Cost: a walk over all modules at the first step of an optimizer with several groups.
    """

    NAME = "decay-groups"
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.seen = IdentitySet()

    def before_step(self, optimizer):
        if optimizer in self.seen:
            return
        self.seen.add(optimizer)
        groups = [group for group in optimizer.param_groups if "weight_decay" in group]
        spared = [group for group in groups if group["weight_decay"] == 0]
        rates = {group.get("lr") for group in spared}
        decayed = [
            group for group in groups if group["weight_decay"] > 0 and group.get("lr") in rates
        ]
        vectors = [parameter for group in spared for parameter in group["params"]]
        if not decayed or not spared or any(parameter.dim() > 1 for parameter in vectors):
            return
        weights = self._list_weights()
        drawn = find_drawn(weights, decayed)
        kept = {id(parameter) for parameter in vectors}
        if not vectors:
            self._report(drawn, "holds no parameter at all")
            return
        kept_kinds = {kind for _, parameter, kind in weights if id(parameter) in kept}
        # A part that is decayed as a whole is meant to be.
        parts = self._list_parts(kept)
        missed = [item for item in drawn if item[2] in kept_kinds and find_part(item[0]) in parts]
        self._report(missed, "has the weights of other normalisations alone")

    def _list_weights(self):
        """Name, weight and class of all normalisations of the program."""
        weights = {}
        for model in self.program.modules():
            for name, module in model.named_modules():
                weight = module._parameters.get("weight")
                if weight is not None and weight.dim() == 1 and is_normalisation(module):
                    item = f"{name}.weight" if name else "weight", weight, type(module).__name__
                    weights.setdefault(id(weight), item)
        return list(weights.values())

    def _list_parts(self, kept):
        """The parts of the models that have parameters of a group."""
        parts = set()
        for model in self.program.modules():
            named = model.named_parameters()
            parts.update(find_part(name) for name, parameter in named if id(parameter) in kept)
        return parts

    def _report(self, drawn, what):
        if not drawn:
            return
        names = [name for name, _, _ in drawn]
        self.report(
            f"the group without weight decay {what}: {len(drawn)} weights of normalisations are "
            f"decayed, {names[0]} the first of them",
            api="torch.optim.Optimizer.add_param_group",
            parameter=names[0],
        )


def find_part(name):
    """The first word of a parameter's name: the part of its model."""
    return name.split(".")[0]


def is_normalisation(module):
    return isinstance(module, NORMALISATIONS) or WORD in type(module).__name__.lower()


def find_drawn(weights, groups):
    """Those weights that these groups decay."""
    decayed = {id(parameter) for group in groups for parameter in group["params"]}
    return [item for item in weights if id(item[1]) in decayed and item[1].requires_grad]
