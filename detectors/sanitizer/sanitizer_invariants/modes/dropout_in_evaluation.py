"""Dropout is for training."""

import sys

import torch
import torch.nn.functional as F  # noqa: N812
from torch.overrides import TorchFunctionMode

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, is_sampled

DROPOUTS = {
    F.dropout: "torch.nn.functional.dropout", F.dropout1d: "torch.nn.functional.dropout1d",
    F.dropout2d: "torch.nn.functional.dropout2d", F.dropout3d: "torch.nn.functional.dropout3d",
}  # fmt: skip
DRAWS = 3
ATTENTION = "torch.nn.functional.scaled_dot_product_attention"


class DropoutInEvaluation(Invariant):
    """A call of a module that is in evaluation mode, with all that it is made of,
    drops nothing out.

    Why: what is judged or used is the whole network. `scaled_dot_product_attention(…, dropout_p)`
    drops out whatever the mode is, and so does `F.dropout(x)` with the default of `training`, and a
    dropout that is not part of the module (made in `forward`, or kept in a list).

    Excepted: calls with gradients, which may be meant for training. `F.dropout(…, training=True)`
    is meant: some networks for speech do. Dropout for uncertainty (Monte Carlo) puts dropouts in
    training mode, or calls the module with one input twice in a row or three times between two
    steps (so the alarm waits for the next step), or has each row of its input more than once. All
    other random numbers, `bernoulli` among them: networks that sample and masks of autoencoders
    draw them in evaluation too. Advice: `F.dropout(x)` where the input is a single row, since an
    agent may draw one network for each decision (Thompson sampling).

    Cost: the state of the random numbers is read before and after a call; a copy is called where it
    has changed.
    """

    NAME = "dropout-in-evaluation"
    VERSION = 1

    def __init__(self, program, report):
        super().__init__(program, report)
        self.state, self.draws = None, IdentityTable()
        self.inputs, self.repeated = IdentityTable(), IdentitySet()
        # By number: a module that is gone at the end is told of all the same.
        self.held = {}

    def before_forward(self, module, arguments, options):
        looked_at = not torch.is_grad_enabled() and copies.is_evaluating(copies.unwrap(module))
        self.state = copies.generator_states() if looked_at else None

    def after_forward(self, module, arguments, options, output):
        state, self.state = self.state, None
        if state is None or copies.are_identical(state, copies.generator_states()):
            return
        module = copies.unwrap(module)
        self.draws[module] = self.draws.get(module, 0) + 1
        # What is drawn is the same in each call, but for branches.
        if id(module) not in self.held and is_sampled(self.draws[module], 100):
            api = self._dropout(module, arguments, options)
            if api is not None:
                self._hold(module, api, (arguments, options))
        if id(module) in self.held:
            self._remember(module, (arguments, options))

    def before_step(self, optimizer):
        for module, api, severity, iteration, where in self.held.values():
            if module not in self.repeated:
                self.report(
                    "a module drops out though it is in evaluation mode, with all that it is made "
                    "of",
                    api=api,
                    severity=severity,
                    iteration=iteration,
                    where=where,
                )
        self.held.clear()
        self.inputs.clear()

    def end(self):
        self.before_step(None)

    def _dropout(self, module, arguments, options):
        """The name of a function by which a copy of the module drops out, or None."""
        duplicates = copies.duplicate_all(module, arguments, options)
        draws = DrawRecorder()

        def call(module, arguments, options):
            with torch.no_grad(), draws:
                module(*arguments, **options)

        if duplicates is not None:
            copies.attempt(self.program, call, *duplicates)
        return draws.api

    def _hold(self, module, api, inputs):
        """Keep what is to be said, unless the call is repeated before the next step."""
        largest = max(copies.list_tensors(inputs), key=torch.Tensor.numel, default=None)
        rows = count_rows(largest)
        if rows > 1 and has_each_row_twice(largest):
            return
        severity = "info" if rows == 1 and api != ATTENTION else "error"
        place = self.program.iteration, self.program.here()
        self.held[id(module)] = module, api, severity, *place

    def _remember(self, module, inputs):
        """Note what the module is called with; what has been the input before is drawn for its
        uncertainty.
        """
        now = tuple(fingerprint(tensor) for tensor in copies.list_tensors(inputs))
        before = self.inputs.setdefault(module, Inputs())
        if not now or before.is_drawn_again(now):
            self.repeated.add(module)


class Inputs:
    """What a module was called with since the last step."""

    def __init__(self):
        self.counts, self.last = {}, None

    def is_drawn_again(self, now):
        """Whether a call is one more draw: the input is that of the call before, or comes for the
        third time. A second pass over the same samples is another evaluation.
        """
        self.counts[now] = self.counts.get(now, 0) + 1
        is_same, self.last = self.last == now, now
        return is_same or self.counts[now] >= DRAWS


def fingerprint(tensor):
    """Tells a tensor from others of a program."""
    if tensor.is_sparse or tensor.is_meta:
        return tuple(tensor.shape)
    with torch.no_grad():
        numbers = tensor.detach().reshape(-1)
        spread = numbers[:: max(1, len(numbers) // 256)]
        return (*tensor.shape, *spread.tolist(), *numbers[-16:].tolist())


def has_each_row_twice(tensor):
    if tensor.layout != torch.strided or tensor.is_meta:
        return False
    with torch.no_grad():
        return bool(
            (torch.unique(tensor.detach().flatten(1), dim=0, return_counts=True)[1] > 1).all()
        )


def count_rows(tensor):
    """How many rows a tensor has; without a tensor none."""
    if tensor is None:
        return 0
    return len(tensor) if tensor.dim() > 1 else 1


class Default(int):
    """Stands for `training` where the caller does not say it."""


class DrawRecorder(TorchFunctionMode):
    """Notes which function drops out without being told that this is meant."""

    def __init__(self):
        super().__init__()
        self.api, self.defaults = None, {}

    def __enter__(self):
        for function in DROPOUTS:
            self.defaults[function] = function.__defaults__
            function.__defaults__ = (0.5, Default(1), False)
        return super().__enter__()

    def __exit__(self, *error):
        for function, defaults in self.defaults.items():
            function.__defaults__ = defaults
        return super().__exit__(*error)

    def __torch_function__(self, function, types, keywords=(), options=None):
        options = dict(options or {})
        if function is F.scaled_dot_product_attention:
            probability = options.get("dropout_p", keywords[4] if len(keywords) > 4 else 0.0)
            self.api = ATTENTION if probability > 0 else self.api
        elif function in DROPOUTS:
            if options["p"] > 0 and (
                isinstance(options["training"], Default) or is_stray(options["training"])
            ):
                self.api = self.api or DROPOUTS[function]
            options["training"] = bool(options["training"])
        return function(*keywords, **options)


def is_stray(training):
    """Whether a dropout module drops out: as all parts of the module evaluate,
    it is none of them.
    """
    frame = sys._getframe(3)
    while frame and frame.f_code.co_filename in (F.__file__, torch.overrides.__file__):
        frame = frame.f_back
    caller = frame and frame.f_locals.get("self")
    return bool(training) and isinstance(caller, torch.nn.modules.dropout._DropoutNd)
