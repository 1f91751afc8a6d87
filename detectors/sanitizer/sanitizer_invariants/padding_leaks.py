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

    The padding token is the `padding_idx` of an embedding, and is in what the network is called with. In a copy, its
    vector is replaced. Looked at are the outputs for other tokens, or for texts as a whole.

    Excepted: networks without masks or softmax, recurrent ones and convolutions, which read padding unless it is packed
    (many do without harm); embeddings that are not called with the tokens; the score of the padding token itself.

    Cost: two calls of copies for the first five calls of a module in evaluation mode, and then for each 200th.
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
    parts = [part for part in module.modules() if has_padding(part)]
    given = [each for each in twins.leaves((arguments, options)) if each.dim() == 2 and each.dtype == torch.long]
    found = [(part, each) for part in parts for each in given if is_padded(each, part.padding_idx)]
    if len(parts) != 1 or len(found) != 1 or len(given) != 1:
        return False
    ((part, tokens),) = found
    before, seen = twins.generators(), Seen()
    with torch.no_grad(), seen:
        once = module(*arguments, **options)
    with torch.no_grad():
        again = module(*arguments, **options)
        size = part.weight.std()
        part.weight[part.padding_idx] = size * torch.linspace(-3, 3, part.weight.shape[1]).to(part.weight)
        other = module(*arguments, **options)
    repeats = twins.identical(once, again) and twins.identical(before, twins.generators())
    return repeats and seen.masks and seen.softmax and depends(once, other, tokens, part)


def is_padded(tokens, padding):
    """Whether some texts have padding at one end, and all have real tokens."""
    is_padding = tokens == padding
    at_end = is_padding[:, 0].any() or is_padding[:, -1].any()
    return bool(at_end) and not bool(is_padding.all(1).any())


def depends(once, other, tokens, part):
    real = tokens != part.padding_idx
    padded = ~real.all(1)
    for left, right in zip(twins.leaves(once), twins.leaves(other)):  # noqa: B905
        if left.shape != right.shape or not left.is_floating_point() or not left.dim() or len(left) != len(tokens):
            continue
        if left.shape[-1] == part.num_embeddings:
            kept = [each for each in range(part.num_embeddings) if each != part.padding_idx]
            left, right = left[..., kept], right[..., kept]
        where = real & padded[:, None] if left.dim() > 2 and left.shape[:2] == tokens.shape else padded
        if twins.difference(left[where], right[where]) > SHARE:
            return True
    return False


class Seen(TorchFunctionMode):
    """Notes whether something is masked, and whether a softmax is taken."""

    masks = softmax = False

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        is_attention = name in MASKING[-2:]
        self.masks = self.masks or name in MASKING[:-2] or (is_attention and has_mask(args, kwargs or {}))
        self.softmax = self.softmax or name == "softmax" or is_attention
        return function(*args, **(kwargs or {}))


def has_mask(arguments, options):
    given = [*arguments[3:], *options.values()]
    return any(isinstance(each, torch.Tensor) and each.dtype == torch.bool for each in given)
