"""Tables of tokens that a network reads, what it is to say of them, and what its outputs read."""

import weakref
from typing import NamedTuple

import torch
from torch.overrides import TorchFunctionMode

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.invariant import Invariant, is_sampled
from sanitizer_invariants.tools.tracing import describe_module, trace_call

LOSSES = ("cross_entropy", "nll_loss")
FIRST, LENGTH, COUNTED, LEFT_OUT, SHARE = 1, 4, 16, 0.1, 1e-3
# New networks attend to all tokens alike: order changes little, and other sums are less still.
ROUNDING = 2e-5
# What a network draws besides dropout, as one does that has latent variables.
DRAWS = (
    "randn", "randn_like", "normal", "normal_", "rand", "rand_like", "uniform_", "exponential_",
    "bernoulli", "bernoulli_", "multinomial",
)  # fmt: skip


class Place(NamedTuple):
    """Which of the tensors that a module gets is a table of tokens, and which axis is the text."""

    number: int
    axis: int


class TextRule(Invariant):
    """A statement about networks whose targets are tokens of what they read.

    A class says by `is_meant` which targets it looks at, and by `judge` what may not be. A module
    is looked at from its third such loss on.
    """

    LIGHT = False

    def __init__(self, program, report):
        super().__init__(program, report)
        self.call, self.losses, self.matched = None, 0, weakref.WeakKeyDictionary()
        self.calls, self.reported = weakref.WeakKeyDictionary(), weakref.WeakSet()

    def before_forward(self, module, arguments, options):
        if not torch.is_grad_enabled():
            return
        module = copies.unwrap(module)
        tensors = self.program.list_given(arguments, options)
        tables = [(number, tensor) for number, tensor in enumerate(tensors) if is_text(tensor)]
        if not tables:
            return
        self.call = weakref.ref(module), tables
        places, count = self.matched.get(module, ((), 0))
        if count < 2 or module in self.reported:
            return
        self.calls[module] = self.calls.get(module, 0) + 1
        if is_sampled(self.calls[module], 200, FIRST):
            self._look_at(module, arguments, options, places)

    def _look_at(self, module, arguments, options, places):
        probes = []
        for place in places:
            probe = PROBES.find(self.program, (module, arguments, options), place)
            if probe and probe.depends():
                probes.append((place.number, probe))
        # Of two tables an encoder may read what a decoder is to say.
        is_one = len({number for number, _ in probes}) == 1
        if is_one and any(self.judge(module, probe) for _, probe in probes):
            self.reported.add(module)

    def after_loss(self, name, arguments, output):
        if name not in LOSSES or self.call is None or not output.requires_grad:
            return
        self.losses += 1
        target, ignored = arguments["target"], arguments["ignore_index"]
        module, tables = self.call[0](), self.call[1]
        if module is None or target.dtype != torch.long or not is_sampled(self.losses, 200):
            return
        fitting = tuple(
            Place(number, axis)
            for number, tokens in tables
            for axis in (0, 1)
            if self._fits(tokens, target, ignored, axis)
        )
        places, count = self.matched.pop(module, ((), 0))
        if fitting:
            self.matched[module] = fitting, count + 1 if places == fitting else 1

    def _fits(self, tokens, target, ignored, axis):
        if tokens.shape[axis] < LENGTH or tokens.device != target.device:
            return False
        shares = match(tokens, target, ignored, axis)
        return shares is not None and self.is_meant(*shares)


class Probes:
    """The probes of the last call, which several statements ask for."""

    def __init__(self):
        # All calls without arguments share one empty tuple; the options of each are its own.
        self.options, self.probes = None, {}

    def find(self, program, call, place):
        """What a copy of a call shows of a table; None where it shows nothing."""
        if self.options is not call[2]:
            self.options, self.probes = call[2], {}
        if place not in self.probes:
            twin = copies.duplicate_all(*call)
            self.probes[place] = twin and copies.attempt(program, probe_call, *twin, place)
        return self.probes[place]


PROBES = Probes()


class Probe(NamedTuple):
    """Whether the outputs of one half of the texts change with the tokens of the other, or of the
    same, or with the order of the first half but for its last token; whether the last output
    changes with the last token; whether those of one text change with another text; and the API
    of the first part that hands tokens of the second half to the first.
    """

    first_by_second: bool
    second_by_second: bool
    second_by_first: bool
    second_by_order: bool
    last_by_last: bool
    text_by_text: bool
    culprit: str

    def is_odd(self):
        """Whether the network does what one that goes on with texts does not."""
        is_blind = self.second_by_first and not self.second_by_order
        return self.first_by_second or self.text_by_text or is_blind

    def depends(self):
        return self.first_by_second or self.second_by_second or self.second_by_first


def is_text(tensor):
    return tensor.dtype == torch.long and tensor.dim() == 2 and not tensor.is_meta


def match(tokens, target, ignored, axis):
    """The shares of the targets that are the token of their own place, and the next one;
    None where too few can tell, or much of the first half is left out: a prefix may be read as a
    whole.
    """
    tokens = tokens.detach().movedim(axis, 0)
    length, texts = tokens.shape
    places = target.numel() // texts
    if target.numel() != places * texts or places not in (length, length - 1):
        return None
    shape = (places, texts) if axis == 0 else (texts, places)
    target = target.detach().reshape(shape).movedim(axis, 0)[: length - 1]
    if float((target[: length // 2] == ignored).float().mean()) > LEFT_OUT:
        return None
    present, following = tokens[: length - 1], tokens[1:]
    counted = (target != ignored) & (present != following)
    number = int(counted.sum())
    if number < COUNTED:
        return None
    return (
        int(((target == present) & counted).sum()) / number,
        int(((target == following) & counted).sum()) / number,
    )


def probe_call(module, arguments, options, place):
    """What a copy's outputs read of the tokens behind; None where it draws random numbers, or gives
    nothing for each token.
    """
    module.eval()
    call = module, arguments, options, False
    tokens = copies.list_tensors((arguments, options))[place.number]
    shape, axis, half = tokens.shape, place.axis, tokens.shape[place.axis] // 2
    texts = shape[1 - axis] // 2
    output, parts = trace_call(*call)
    other, other_parts = call_with(call, tokens, replace, (axis, half, shape[axis] - half))
    by_second = compare(output, other, shape, axis, half)
    if by_second is None:
        return None
    culprit = find_culprit(module, parts, other_parts, (shape, axis, half))
    # Tokens whose order is to matter have to matter: those of another text that is packed in
    # front, or are too far away, do not.
    other, _ = call_with(call, tokens, replace, (axis, 0, half - 1))
    by_first = compare(output, other, shape, axis, half)
    other, _ = call_with(call, tokens, turn_round, (axis, 0, half - 1))
    by_order = compare(output, other, shape, axis, half, ROUNDING)
    first = tokens.narrow(axis, 0, 1).clone()
    last = axis, shape[axis] - 1, 1
    other, _ = call_with(call, tokens, lambda part, _: part.copy_(first), last)
    by_last = compare(output, other, shape, axis, shape[axis] - 1)
    by_text = False, False
    if texts:
        # A recurrent layer hands on to later texts alone.
        other, _ = call_with(call, tokens, replace, (1 - axis, 0, texts))
        by_text = compare(output, other, shape, 1 - axis, texts)
    probe = Probe(*by_second, by_first[1], by_order[1], by_last[1], by_text[1], culprit)
    # What costs two more calls is asked where something is suspicious.
    has_chance = probe.is_odd() and (
        not copies.are_identical(output, trace_call(*call)[0]) or draws(*call[:3])
    )
    return None if has_chance else probe


def call_with(call, tokens, change, part):
    """What a call gives, and its parts, with other tokens in a part; they are put back."""
    original = tokens.clone()
    change(tokens.narrow(*part), part[0])
    result = trace_call(*call)
    tokens.copy_(original)
    return result


def turn_round(part, axis):
    part.copy_(part.flip(axis))


def replace(part, axis):
    """Put other tokens in the places of these, all of them from here."""
    part.copy_(part.flatten().roll(1 + part.shape[1]).view(part.shape))


def draws(module, arguments, options):
    """Whether a network draws random numbers in training, other than dropout."""
    recorder = DrawRecorder()
    module.train()
    with torch.no_grad(), recorder:
        module(*arguments, **options)
    return recorder.draws


class DrawRecorder(TorchFunctionMode):
    draws = False

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.draws = self.draws or getattr(function, "__name__", "") in DRAWS
        return function(*args, **(kwargs or {}))


def find_culprit(module, parts, other_parts, where):
    """What first hands tokens from behind to places before them."""
    for part, (inputs, outputs) in parts.items():
        if part not in other_parts:
            continue
        other_inputs, other_outputs = other_parts[part]
        received = compare(inputs, other_inputs, *where)
        result = compare(outputs, other_outputs, *where)
        if received and result and not received[0] and result[0]:
            return describe_module(part)
    return describe_module(module)


def compare(first, second, shape, axis, half, share=SHARE):
    """Whether numbers before a place differ by more than a share, and those from it on; None where
    none have places.
    """
    before = after = None
    for left, right in zip(copies.list_tensors(first), copies.list_tensors(second)):  # noqa: B905
        if left.shape != right.shape or not left.is_floating_point():
            continue
        pair = move_places(left, shape, axis), move_places(right, shape, axis)
        if pair[0] is None:
            continue
        left, right = pair
        before = bool(before) or copies.relative_difference(left[:half], right[:half]) > share
        after = bool(after) or copies.relative_difference(left[half:], right[half:]) > share
    return None if before is None else (before, after)


def move_places(tensor, shape, axis):
    """A tensor with the places of the tokens as its first axis; None where it has none."""
    length, texts = shape[axis], shape[1 - axis]
    sizes = tuple(tensor.shape)
    if sizes[:2] == tuple(shape):
        return tensor.movedim(axis, 0)
    if sizes[:2] == tuple(shape)[::-1]:
        return tensor.movedim(1 - axis, 0)
    if len(sizes) == 3 and sizes[::2] == (texts, length):
        return tensor.movedim(2, 0)
    if sizes and sizes[0] == length * texts:
        return tensor.reshape(*shape, *sizes[1:]).movedim(axis, 0)
    return None
