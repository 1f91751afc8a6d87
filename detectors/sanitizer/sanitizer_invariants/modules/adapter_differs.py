"""An adapter begins as the layer that it adapts."""

import weakref

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, checksum_of

SHARE, LIKENESS = 0.1, 0.5


class AdapterDiffers(Invariant):
    """What takes the place of a frozen layer, and has that layer inside, computes what the layer
    computes, until its first step.

    Why: adapters begin at zero, or at one where they multiply (LoRA, arXiv 2106.09685, section
    4.1): training starts from the network that was learnt before. Where an adapter begins at
    random, or leaves out what the class of its layer does (a scale of embeddings, a bias), it
    starts from another network, and learns all the same.

    A module takes the place of its own part where a program sets it as an attribute that held the
    part. Copies are called in evaluation mode; outputs that differ by a tenth are others. They have
    to be like the layer's, all the same: with a correlation of a half and more. And they depend on
    the input by another way than through the layer: what has none is another layer behind a frozen
    one.

    Excepted: layers that are not frozen, or whose numbers have changed since the adapter was made,
    as where it takes a part of the matrix for itself (PiSSA); adapters without parameters to train,
    that have loaded some, or have another shape of output; modules of torch.

    Cost: a checksum of each layer that is wrapped; one copy and call of the network, and of these
    layers.
    """

    NAME, LIGHT = "adapter-differs", False
    VERSION = 5

    def __init__(self, program, report):
        super().__init__(program, report)
        self.owned, self.sums = IdentitySet(), IdentityTable()
        self.adapters = IdentityTable()

    def before_registration(self, parent, name, module):
        previous = parent._modules.get(name)
        if module in self.owned and module not in self.sums:
            self.sums[module] = list_sums(module)
        self.owned.add(module)
        if previous is None or previous is module or type(module).__module__.startswith("torch."):
            return
        if any(part is previous for part in module.modules()):
            place = self.program.here()
            self.adapters[module] = weakref.ref(previous), place, self.program.completed

    def before_load(self, loaded, state):
        if isinstance(loaded, torch.nn.Module):
            for part in loaded.modules():
                self.adapters.pop(part, None)

    def before_forward(self, module, arguments, options):
        if not self.adapters:
            return
        module = copies.unwrap(module)
        parts = list(module.modules())
        numbers = {id(part): number for number, part in enumerate(parts)}
        pairs = [(part, self.adapters.pop(part)) for part in parts if part in self.adapters]
        places = {}
        for part, (layer, place, completed) in pairs:
            if completed == self.program.completed and self._begins(part, layer()):
                places[numbers[id(part)]] = numbers[id(layer())], place
        twin = copies.duplicate_all(module, arguments, options) if places else None
        if twin is None:
            return
        for place, share in copies.attempt(self.program, compare, places, *twin) or ():
            adapter, layer = parts[place], parts[places[place][0]]
            self.report(
                f"{type(adapter).__name__}, around the frozen {type(layer).__name__}, gives other "
                f"outputs before its first step: they differ by {share:.0%}",
                api=f"{type(adapter).__name__}.forward",
                where=places[place][1],
            )

    def _begins(self, adapter, layer):
        """Whether an adapter is to be trained around a frozen layer that is as it was."""
        if layer is None or not any(value.requires_grad for value in adapter.parameters()):
            return False
        own = list(layer.parameters())
        if not own or any(value.requires_grad for value in own):
            return False
        return layer in self.sums and self.sums[layer] == list_sums(layer)


def list_sums(module):
    """A checksum of each of a module's parameters."""
    return [checksum_of(value) for value in module.parameters()]


def compare(places, module, arguments, options):
    """The places of adapters whose output is another one than their layer's, with the share."""
    module.eval()
    parts, calls = list(module.modules()), IdentityTable()

    def note(part, given, named, output):
        calls.setdefault(part, (given, named, output))

    handles = [parts[place].register_forward_hook(note, with_kwargs=True) for place in places]
    differing = []
    with torch.no_grad():
        module(*arguments, **options)
        for handle in handles:
            handle.remove()
        for place, (layer, _) in places.items():
            if parts[place] not in calls:
                continue
            given, named, output = calls[parts[place]]
            expected = parts[layer](*given, **named)
            share = difference(output, expected)
            if share > SHARE and not is_behind(parts[place], parts[layer], calls[parts[place]]):
                differing.append((place, share))
    return differing


def is_behind(adapter, layer, call):
    """Whether an adapter sees its input through its layer alone: with another input, and the
    layer's old output, its own output stays.
    """
    given, named, output = call
    kept = []
    handle = layer.register_forward_hook(lambda part, values, result: kept.append(result))
    adapter(*given, **named)
    handle.remove()
    if len(kept) != 1:
        return False
    handle = layer.register_forward_hook(lambda part, values, result: kept[0])
    other = adapter(*map(reverse, given), **{name: reverse(value) for name, value in named.items()})
    handle.remove()
    return copies.are_identical(output, other)


def reverse(value):
    """Another input of the same kind: the tensor, backwards."""
    is_long = isinstance(value, torch.Tensor) and value.dim() > 0
    return value.flip(tuple(range(value.dim()))) if is_long else value


def difference(output, expected):
    """By how much two outputs differ at most; 0 where they are of other kinds."""
    pairs = list(zip(copies.list_tensors(output), copies.list_tensors(expected)))  # noqa: B905
    shares = [
        copies.relative_difference(one, other)
        for one, other in pairs
        if one.shape == other.shape and one.is_floating_point() and are_alike(one, other)
    ]
    return max(shares, default=0.0)


def are_alike(first, second):
    """Whether the numbers of two outputs go together."""
    pair = torch.stack([first.flatten().double(), second.flatten().double()])
    centred = pair - pair.mean(1, keepdim=True)
    return torch.cosine_similarity(*centred, dim=0).item() >= LIKENESS
