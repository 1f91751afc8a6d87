"""What stands for padding is not read."""

import weakref

import torch
from torch.overrides import TorchFunctionMode

from sanitizer_invariants import twins
from sanitizer_invariants.base import Invariant, sampled

SHARE = 0.01
MASKING = ("masked_fill", "masked_fill_", "where", "scaled_dot_product_attention", "multi_head_attention_forward")


class PaddingLeaks(Invariant):
    """Where a network masks its attention, its outputs for real tokens do not depend on the vector of the padding.

    Why: who masks does not want the padding to be read. A mask along the wrong axis, or one that is inverted, lets it
    through: what comes out depends on how much the other texts of a batch are longer.

    The padding token is the `padding_idx` of the one embedding that is called with a table of texts, padded at an end.
    In a copy, other vectors come out of it for padding. Looked at are the outputs for other tokens (along each axis
    that is as long as the texts), or for texts as a whole. Where the vector was exactly zero, a sum of all tokens reads
    nothing of it: then outputs have to change as well when the padded texts come by themselves, without the columns
    that are padding in all of them.

    Excepted: networks without masks or softmax, recurrent ones and convolutions, which read padding unless it is packed
    (many do without harm); those that call an embedding with padding twice, as with sources and targets; outputs of
    which it is unclear where their tokens are (as many texts as tokens, other axes, tokens that were flattened). Who
    masks the attention, and takes the mean of all places, padding included, is accused.

    Cost: three calls of copies for the first five calls of a module in evaluation mode, and then for each 200th.
    """

    NAME, LIGHT = "padding-leaks", False

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.said = weakref.WeakKeyDictionary(), weakref.WeakSet()

    def before_forward(self, module, arguments, options):
        module = twins.bare(module)
        if torch.is_grad_enabled() or module in self.said or not twins.evaluates(module):
            return
        self.calls[module] = self.calls.get(module, 0) + 1
        if not sampled(self.calls[module], 200):
            return
        if not any(map(has_padding, module.modules())) or any(map(reads_on, module.modules())):
            return
        twin = twins.copied(module, arguments, options)
        if twin and twins.attempted(self.program, leaks, *twin):
            self.said.add(module)
            self.report(
                f"{type(module).__name__} masks what it attends to, and its outputs for real tokens still depend on "
                "the padding",
                api="torch.Tensor.masked_fill",
            )


def has_padding(part):
    return isinstance(part, torch.nn.Embedding) and part.padding_idx is not None


def reads_on(part):
    return isinstance(part, (torch.nn.RNNBase, torch.nn.RNNCellBase, torch.nn.modules.conv._ConvNd))


def leaks(module, arguments, options):
    """Whether outputs for real tokens change with the vector of the padding."""
    before, seen, padding = twins.generators(), Seen(), Padding()
    for part in filter(has_padding, module.modules()):
        part.register_forward_hook(padding)
    once = seen.during(module, arguments, options)
    if not seen.masks or not seen.softmax or len(padding.calls) != 1 or not is_padded(padding.calls[0]):
        return False
    real, was_zero = ~padding.calls[0], padding.was_zero
    # All under the same mode: torch takes other ways through its own attention where there is none.
    again = seen.during(module, arguments, options)
    if not twins.identical(once, again) or not twins.identical(before, twins.generators()):
        return False
    padding.replaces = True
    other = seen.during(module, arguments, options)
    if not any(twins.difference(*pair) > SHARE for pair in pairs(once, other, real)):
        return False
    padding.replaces = False
    return not was_zero or depends_on_amount(module, arguments, options, once, real, seen)


class Padding:
    """A hook of embeddings: notes where they are given padding, and puts another vector there."""

    def __init__(self):
        self.calls, self.was_zero, self.replaces = [], False, False

    def __call__(self, part, given, output):
        is_padding = given[0] == part.padding_idx
        self.calls.append(is_padding)
        self.was_zero = not bool(output[is_padding].any())
        if not self.replaces:
            return None
        vector = part.weight.std() * torch.linspace(-3, 3, output.shape[-1]).to(output)
        return torch.where(is_padding.unsqueeze(-1), vector, output)


def is_padded(is_padding):
    """Whether some texts have padding at one end, and all have real tokens."""
    if is_padding.dim() != 2:
        return False
    at_end = is_padding[:, 0].any() or is_padding[:, -1].any()
    return bool(at_end) and not bool(is_padding.all(1).any())


def depends_on_amount(module, arguments, options, once, real, seen):
    """Whether the outputs of the padded texts change without the columns that are padding in all of them."""
    padded = ~real.all(1)
    columns = real[padded].any(0).nonzero().flatten()
    kept = padded, int(columns[0]), int(columns[-1]) + 1
    for each in {id(each): each for each in twins.leaves((arguments, options))}.values():
        each.data = cut(each.data, real.shape, kept)
    other = seen.during(module, arguments, options)
    found = list(pairs(once, other, real, kept))
    is_finite = [(torch.isfinite(left), torch.isfinite(right)) for left, right in found]
    return any(twins.difference(*pair) > SHARE for pair in found) or any(bool((a != b).any()) for a, b in is_finite)


def cut(tensor, shape, kept):
    """Some texts (axis 0), from one token to another (each axis that is as long as the texts)."""
    texts, first, last = kept
    if tensor.dim() and len(tensor) == shape[0]:
        tensor = tensor[texts]
    for axis in range(tensor.dim()):
        if tensor.shape[axis] == shape[1]:
            tensor = tensor.narrow(axis, first, last - first)
    return tensor


def pairs(once, other, real, kept=None):
    """The numbers for real tokens in two outputs; of the first, what is `kept` in the second."""
    for left, right in zip(twins.leaves(once), twins.leaves(other)):  # noqa: B905
        where = places(left, real)
        if where is None:
            continue
        if kept is not None:
            left, where = cut(left, real.shape, kept), cut(where, real.shape, kept)
        if left.shape == right.shape:
            yield left[where], right[where]


def places(output, real):
    """Which numbers of an output are for real tokens, in texts with padding; None where it is unclear."""
    size, length = real.shape
    if not output.is_floating_point() or not output.dim() or len(output) != size or size == length:
        return None
    axes = [axis for axis in range(1, output.dim()) if output.shape[axis] == length]
    others = [each for each in output.shape[1:] if each > 1]
    # One number for each token and one more, or one less, or several numbers.
    if not axes and (len(others) > 1 or any(each % length == 0 or abs(each - length) == 1 for each in others)):
        return None
    where = (~real.all(1)).view([size] + [1] * (output.dim() - 1))
    for axis in axes:
        where = where & real.view([size] + [length if each == axis else 1 for each in range(1, output.dim())])
    return where.expand_as(output)


class Seen(TorchFunctionMode):
    """Notes whether something is masked, and whether a softmax is taken."""

    masks = softmax = False

    def during(self, module, arguments, options):
        """What a call gives."""
        with torch.no_grad(), self:
            return module(*arguments, **options)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        is_attention = name in MASKING[-2:]
        self.masks = self.masks or name in MASKING[:-2] or (is_attention and has_mask(args, kwargs or {}))
        self.softmax = self.softmax or name == "softmax" or is_attention
        return function(*args, **(kwargs or {}))


def has_mask(arguments, options):
    given = [*arguments[3:], *options.values()]
    return any(isinstance(each, torch.Tensor) and each.dtype == torch.bool for each in given)
