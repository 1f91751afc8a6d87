"""Tables of tokens that a network reads, what it is to say of them, and what its outputs read."""

import weakref
from typing import NamedTuple

import torch
from torch.overrides import TorchFunctionMode

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, is_sampled
from sanitizer_invariants.tools.masks import find_hidden
from sanitizer_invariants.tools.tracing import describe_module, trace_call

LOSSES = ("cross_entropy", "nll_loss")
ARGUMENTS = ("input", "target", "weight", "size_average", "ignore_index")
FIRST, LENGTH, COUNTED, LEFT_OUT, SHARE, FITTING = 1, 4, 16, 0.1, 1e-3, 0.95
# New networks attend to all tokens alike: order changes little, and other sums are less still.
ROUNDING = 2e-5
# What a network draws besides dropout, as one does that has latent variables.
DRAWS = (
    "randn", "randn_like", "normal", "normal_", "rand", "rand_like", "uniform_", "exponential_",
    "bernoulli", "bernoulli_", "multinomial",
)  # fmt: skip


class Place(NamedTuple):
    """Which of the tensors that a module gets is a table of tokens, which axis is the text, and how
    many tokens its loss chooses from.
    """

    number: int
    axis: int
    classes: int


class TextRule(Invariant):
    """A statement about networks whose targets are tokens of what they read.

    A class says by `is_meant` which targets it looks at, and by `judge` what may not be. A module
    is looked at from its third such loss on.
    """

    LIGHT = False

    def __init__(self, program, report):
        super().__init__(program, report)
        self.call, self.losses, self.matched = None, 0, IdentityTable()
        # How many losses came since the module was called, with or without gradients, and which of
        # these was the first that fitted.
        self.count, self.first = 0, None
        self.calls, self.reported = IdentityTable(), IdentitySet()

    def before_forward(self, module, arguments, options):
        if not torch.is_grad_enabled():
            return
        module = copies.unwrap(module)
        tensors = self.program.list_given(arguments, options)
        tables = [(number, tensor) for number, tensor in enumerate(tensors) if is_text(tensor)]
        if not tables:
            return
        self.call, self.count, self.first = (weakref.ref(module), tables), 0, None
        places, count, loss = self.matched.get(module, ((), 0, None))
        if count < 2 or module in self.reported:
            return
        self.calls[module] = self.calls.get(module, 0) + 1
        if is_sampled(self.calls[module], 200, FIRST):
            self._look_at((module, arguments, options), places, loss)

    def _look_at(self, call, places, loss):
        module, probes = call[0], []
        for place in places:
            probe = PROBES.find(self.program, call, place, loss)
            if probe and probe.depends():
                probes.append((place.number, probe))
        # Of two tables an encoder may read what a decoder is to say.
        is_one = len({number for number, _ in probes}) == 1
        if is_one and any(self.judge(module, probe) for _, probe in probes):
            self.reported.add(module)

    def after_loss(self, name, arguments, output):
        if name not in LOSSES or self.call is None:
            return
        self.count += 1
        if not output.requires_grad:
            return
        self.losses += 1
        target, ignored = arguments["target"], arguments["ignore_index"]
        module, tables = self.call[0](), self.call[1]
        if module is None or target.dtype != torch.long or not is_sampled(self.losses, 200):
            return
        classes = arguments["input"].shape[1] if arguments["input"].dim() > 1 else 0
        fitting = tuple(
            Place(number, axis, classes)
            for number, tokens in tables
            for axis in (0, 1)
            if self._fits(tokens, target, ignored, axis)
        )
        places, count, _ = self.matched.pop(module, ((), 0, None))
        if fitting:
            self.first = self.count - 1 if self.first is None else self.first
            self.matched[module] = fitting, count + 1 if places == fitting else 1, self.first

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

    def find(self, program, call, place, loss):
        """What a copy of a call shows of a table, which a loss chooses from; None where it shows
        nothing. The loss is a number, of all that come after the module was called.
        """
        if self.options is not call[2]:
            self.options, self.probes = call[2], {}
        asked = place, loss
        if asked not in self.probes:
            twin = copies.duplicate_all(*call)
            self.probes[asked] = twin and copies.attempt(program, probe_call, *twin, *asked)
        return self.probes[asked]


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


def probe_call(module, arguments, options, place, loss):
    """What a copy's outputs read of the tokens behind; None where it draws random numbers, or gives
    nothing for each token.
    """
    module.eval()
    reader = Reader((module, arguments, options, False), place, loss)
    length, texts = reader.shape[place.axis], reader.shape[1 - place.axis] // 2
    half, whole = reader.length // 2, reader.length
    shown = list_shown(reader.tokens, copies.list_tensors((arguments, options)), place.axis, half)
    other, parts = reader.call_with(replace, (place.axis, half, whole - half))
    by_second = reader.compare(other, place.axis, half, texts=shown)
    if by_second is None:
        return None
    shapes = dict.fromkeys((reader.shape, reader.tokens.shape))
    where = shapes, place.axis, half
    culprit = find_culprit(module, reader.parts, parts, where, shown)
    # Tokens whose order is to matter have to matter: those of another text that is packed in
    # front, or are too far away, do not.
    other, _ = reader.call_with(replace, (place.axis, 0, half - 1))
    by_first = reader.compare(other, place.axis, half)
    other, _ = reader.call_with(turn_round, (place.axis, 0, half - 1))
    by_order = reader.compare(other, place.axis, half, ROUNDING)
    first = reader.tokens.narrow(place.axis, 0, 1).clone()
    last = place.axis, length - 1, 1
    other, _ = reader.call_with(lambda part, _: part.copy_(first), last)
    by_last = reader.compare(other, place.axis, length - 1)
    by_text = False, False
    if texts:
        # A recurrent layer hands on to later texts alone.
        other, _ = reader.call_with(replace, (1 - place.axis, 0, texts))
        by_text = reader.compare(other, 1 - place.axis, texts)
    probe = Probe(*by_second, by_first[1], by_order[1], by_last[1], by_text[1], culprit)
    # What costs two more calls is asked where something is suspicious.
    has_chance = probe.is_odd() and (not reader.repeats() or draws(module, arguments, options))
    return None if has_chance else probe


class Reader:
    """A copy of a call, made with other tokens again and again. Where the module itself computes
    the loss, it is looked at what it gives to that; else at what it gives for each token.
    """

    def __init__(self, call, place, loss):
        self.call = call
        self.tokens = copies.list_tensors(call[1:3])[place.number]
        self.length = self.tokens.shape[place.axis]
        whole, self.parts, losses = self._trace()
        # None for a loss that is not the module's own; the shape of the tokens with targets.
        self.loss, self.shape = find_loss(losses, self.tokens, place, loss)
        self.output = self._said(whole, losses)

    def _trace(self):
        recorder = LossRecorder()
        with recorder:
            whole, parts = trace_call(*self.call)
        return whole, parts, recorder.losses

    def _said(self, whole, losses):
        """What the module says; None where the loss was not computed."""
        if self.loss is None:
            return whole
        return losses[self.loss]["input"] if self.loss < len(losses) else None

    def call_with(self, change, part):
        """What the call gives, and all parts, with other tokens in a part; they are put back."""
        original = self.tokens.clone()
        change(self.tokens.narrow(*part), part[0])
        whole, parts, losses = self._trace()
        self.tokens.copy_(original)
        return self._said(whole, losses), parts

    def compare(self, other, axis, half, share=SHARE, texts=None):
        return compare(self.output, other, (self.shape, axis, half), share, texts)

    def repeats(self):
        """Whether the same tokens give the same again."""
        whole, _, losses = self._trace()
        return copies.are_identical(self.output, self._said(whole, losses))


class LossRecorder(TorchFunctionMode):
    """Keeps the arguments of losses, by name."""

    def __init__(self):
        super().__init__()
        self.losses = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if getattr(function, "__name__", "") in LOSSES:
            named = dict(zip(ARGUMENTS, args))  # noqa: B905
            self.losses.append({**named, **(kwargs or {})})
        return function(*args, **(kwargs or {}))


def find_loss(losses, tokens, place, loss):
    """The number of the loss that was learnt from, and the shape of the tokens that it has targets
    for; (None, the shape of all) where the module does not compute it.

    A module may have other losses, too: of what a teacher says, or only to be shown.
    """
    nothing = None, tokens.shape
    if loss >= len(losses):
        return nothing
    named = losses[loss]
    target, ignored = named["target"], named.get("ignore_index", -100)
    if target.dtype != torch.long or target.device != tokens.device:
        return nothing
    shares = match(tokens, target, ignored, place.axis)
    if shares is None or max(shares) < FITTING:
        return nothing
    shape = list(tokens.shape)
    shape[place.axis] = target.numel() // tokens.shape[1 - place.axis]
    return loss, torch.Size(shape)


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


def find_culprit(module, parts, other_parts, where, texts):
    """What first hands tokens from behind to places before them. `where` has the shapes of the
    tokens that parts may read, the axis and the place.
    """
    shapes, *place = where
    for part, pair in parts.items():
        if part not in other_parts:
            continue
        other = other_parts[part]
        for shape in shapes:
            received, result = (
                compare(*sides, (shape, *place), texts=texts)
                for sides in zip(pair, other)  # noqa: B905
            )
            if received and result and not received[0] and result[0]:
                return describe_module(part)
    return describe_module(module)


def list_shown(tokens, tensors, axis, half):
    """The numbers of the texts of which no mask hides a place before the half: what stands in a
    hidden place is read by nobody, and may come from anywhere. None: all texts.

    A network may make the mask itself, of the token that fills up texts at their beginnings.
    """
    # A mask of what is read leaves out the last token.
    read = tokens.narrow(axis, 0, tokens.shape[axis] - 1)
    others = [tensor for tensor in tensors if tensor is not tokens]
    hidden = [find_filling(tokens.movedim(axis, 1)).movedim(1, axis)]
    for part in (tokens, read):
        masks = [cut_to_table(mask, part.shape) for mask in others]
        hidden += [find_hidden(part, mask) for mask in masks if mask is not None]
    hidden = [places.narrow(axis, 0, half).any(axis) for places in hidden if places is not None]
    return (~torch.stack(hidden).any(0)).nonzero().flatten()


def cut_to_table(mask, shape):
    """A mask as a table of the texts' shape; None where it is none. One with more axes, for heads
    and for the places that look at others, is taken as the last place sees it.
    """
    if mask.dim() > 2 and mask.shape[0] == shape[0] and mask.shape[-1] == shape[1]:
        while mask.dim() > 2:
            mask = mask[:, -1]
    return mask if mask.shape == shape else None


def find_filling(texts):
    """Which places one token fills up: it stands at the beginnings of rows alone, in runs of
    different lengths.
    """
    for word in texts[:, 0].unique():
        is_word = texts == word
        lengths = is_word.long().cumprod(1).sum(1)
        is_at_beginnings = int(is_word.sum()) == int(lengths.sum())
        if is_at_beginnings and int(lengths.max()) > 1 and len(lengths.unique()) > 1:
            return is_word
    return torch.zeros_like(texts, dtype=torch.bool)


def compare(first, second, where, share=SHARE, texts=None):
    """Whether numbers before a place differ by more than a share, of some texts, and those from it
    on; None where none have places. `where` is the shape of the tokens, the axis and the place.
    """
    shape, axis, half = where
    before = after = None
    for left, right in zip(copies.list_tensors(first), copies.list_tensors(second)):  # noqa: B905
        if left.shape != right.shape or not left.is_floating_point():
            continue
        pair = move_places(left, shape, axis), move_places(right, shape, axis)
        if pair[0] is None:
            continue
        left, right = pair
        first_half = [half_of[:half] for half_of in pair]
        if texts is not None:
            first_half = [half_of[:, texts] for half_of in first_half]
        before = bool(before) or copies.relative_difference(*first_half) > share
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
    # Classes may be the second of three axes.
    if len(sizes) == 3 and sizes[::2] == tuple(shape):
        return tensor.movedim(2 * axis, 0)
    if len(sizes) == 3 and sizes[::2] == tuple(shape)[::-1]:
        return tensor.movedim(2 - 2 * axis, 0)
    if sizes and sizes[0] == length * texts:
        return tensor.reshape(*shape, *sizes[1:]).movedim(axis, 0)
    return None
