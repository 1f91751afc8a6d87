"""What stands for padding is not read."""

import inspect

import torch
from torch.overrides import TorchFunctionMode

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, is_sampled

SHARE = 0.01
MASKING = (
    "masked_fill",
    "masked_fill_",
    "where",
    "scaled_dot_product_attention",
    "multi_head_attention_forward",
)


class PaddingLeaks(Invariant):
    """Where a network masks its attention, its outputs for real tokens do not depend on the vector
    of the padding.

    A network masks if a function of torch does, or if it is given a tensor called a mask, which may
    say that nothing is padding.

    Why: who masks does not want the padding to be read. A mask along the wrong axis, or one that is
    inverted, lets it through: what comes out depends on how much the other texts of a batch are
    longer.

    The padding token is the `padding_idx` of the one embedding that is called with a table of
    texts, padded at an end. In a copy, other vectors come out of it for padding. Looked at are the
    outputs for other tokens (along each axis that is as long as the texts), or for texts as a
    whole. Where the vector was exactly zero, a sum of all tokens reads nothing of it: then outputs
    have to change as well when the padded texts come by themselves, without the columns that are
    padding in all of them.

    Excepted: networks without masks or softmax, recurrent ones and convolutions, which read padding
    unless it is packed (many do without harm); those that call an embedding with padding twice, as
    with sources and targets; outputs of which it is unclear where their tokens are (as many texts
    as tokens, other axes, tokens that were flattened). Who masks the attention, and takes the mean
    of all places, padding included, is accused.

    Cost: three calls of copies for the first five calls of a module in evaluation mode, and then
    for each 200th.
    """

    NAME, LIGHT = "padding-leaks", False
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.reported = IdentityTable(), IdentitySet()

    def before_forward(self, module, arguments, options):
        module = copies.unwrap(module)
        if torch.is_grad_enabled() or module in self.reported or not copies.is_evaluating(module):
            return
        self.calls[module] = self.calls.get(module, 0) + 1
        if not is_sampled(self.calls[module], 200):
            return
        if not any(map(has_padding, module.modules())) or any(map(reads_on, module.modules())):
            return
        twin = copies.duplicate_all(module, arguments, options)
        if twin and copies.attempt(self.program, leaks, *twin):
            self.reported.add(module)
            self.report(
                f"{type(module).__name__} masks what it attends to, and its outputs for real "
                "tokens still depend on the padding",
                api="torch.Tensor.masked_fill",
            )


def has_padding(part):
    return isinstance(part, torch.nn.Embedding) and part.padding_idx is not None


def reads_on(part):
    return isinstance(part, (torch.nn.RNNBase, torch.nn.RNNCellBase, torch.nn.modules.conv._ConvNd))


def leaks(module, arguments, options):
    """Whether outputs for real tokens change with the vector of the padding."""
    before, functions, padding = copies.generator_states(), FunctionRecorder(), Padding()
    for part in filter(has_padding, module.modules()):
        part.register_forward_hook(padding)
    once = functions.during(module, arguments, options)
    if not functions.softmax or len(padding.calls) != 1 or not is_padded(padding.calls[0]):
        return False
    shape = padding.calls[0].shape
    if not (functions.masks or is_given_mask(module, arguments, options, shape)):
        return False
    real, was_zero = ~padding.calls[0], padding.was_zero
    # All under the same mode: torch takes other ways through its own attention where there is none.
    again = functions.during(module, arguments, options)
    if not copies.are_identical(once, again) or not copies.are_identical(
        before, copies.generator_states()
    ):
        return False
    padding.replaces = True
    other = functions.during(module, arguments, options)
    if not any(copies.relative_difference(*pair) > SHARE for pair in pairs(once, other, real)):
        return False
    padding.replaces = False
    return not was_zero or depends_on_amount(module, arguments, options, once, real, functions)


def is_given_mask(module, arguments, options, shape):
    """Whether a network is given a tensor that is called a mask, with a number for each token."""
    try:
        bound = inspect.signature(module.forward).bind(*arguments, **options).arguments
    except (TypeError, ValueError):
        return False
    return any(
        "mask" in name and isinstance(value, torch.Tensor) and value.shape == shape
        for name, value in bound.items()
    )


class Padding:
    """A hook of embeddings: notes where they are given padding, and puts another vector there."""

    def __init__(self):
        self.calls, self.was_zero, self.replaces = [], False, False

    def __call__(self, part, options, output):
        is_padding = options[0] == part.padding_idx
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


def depends_on_amount(module, arguments, options, once, real, functions):
    """Whether the outputs of the padded texts change without the columns that are padding in all of
    them.
    """
    padded = ~real.all(1)
    columns = real[padded].any(0).nonzero().flatten()
    span = padded, int(columns[0]), int(columns[-1]) + 1
    for tensor in {
        id(tensor): tensor for tensor in copies.list_tensors((arguments, options))
    }.values():
        tensor.data = cut_out(tensor.data, real.shape, span)
    other = functions.during(module, arguments, options)
    differences = list(pairs(once, other, real, span))
    is_finite = [(torch.isfinite(first), torch.isfinite(right)) for first, right in differences]
    return any(copies.relative_difference(*pair) > SHARE for pair in differences) or any(
        bool((a != b).any()) for a, b in is_finite
    )


def cut_out(tensor, shape, columns):
    """Some texts (axis 0), from one token to another (each axis that is as long as the texts)."""
    texts, first, last = columns
    if tensor.dim() and len(tensor) == shape[0]:
        tensor = tensor[texts]
    for axis in range(tensor.dim()):
        if tensor.shape[axis] == shape[1]:
            tensor = tensor.narrow(axis, first, last - first)
    return tensor


def pairs(once, other, real, columns=None):
    """The numbers for real tokens in two outputs; of the first, what is `kept` in the second."""
    for first, right in zip(copies.list_tensors(once), copies.list_tensors(other)):  # noqa: B905
        where = places(first, real)
        if where is None:
            continue
        if columns is not None:
            first, where = cut_out(first, real.shape, columns), cut_out(where, real.shape, columns)
        if first.shape == right.shape:
            yield first[where], right[where]


def places(output, real):
    """Which numbers of an output are for real tokens, in texts with padding;
    None where it is unclear.
    """
    size, length = real.shape
    if not output.is_floating_point() or not output.dim() or len(output) != size or size == length:
        return None
    axes = [axis for axis in range(1, output.dim()) if output.shape[axis] == length]
    lengths = [axis_length for axis_length in output.shape[1:] if axis_length > 1]
    # One number for each token and one more, or one less, or several numbers.
    if not axes and (len(lengths) > 1 or any(is_near(number, length) for number in lengths)):
        return None
    shape = [size] + [1] * (output.dim() - 1)
    where = (~real.all(1)).view(shape)
    for axis in axes:
        shape_of_real = list(shape)
        shape_of_real[axis] = length
        where = where & real.view(shape_of_real)
    return where.expand_as(output)


def is_near(number, length):
    """Whether a number is a multiple of a length, or one more or less."""
    return number % length == 0 or abs(number - length) == 1


class FunctionRecorder(TorchFunctionMode):
    """Notes whether something is masked, and whether a softmax is taken."""

    masks = softmax = False

    def during(self, module, arguments, options):
        """What a call gives."""
        with torch.no_grad(), self:
            return module(*arguments, **options)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        is_attention = name in MASKING[-2:]
        self.masks = (
            self.masks or name in MASKING[:-2] or (is_attention and has_mask(args, kwargs or {}))
        )
        self.softmax = self.softmax or name == "softmax" or is_attention
        return function(*args, **(kwargs or {}))


def has_mask(arguments, options):
    values = [*arguments[3:], *options.values()]
    return any(isinstance(value, torch.Tensor) and value.dtype == torch.bool for value in values)
