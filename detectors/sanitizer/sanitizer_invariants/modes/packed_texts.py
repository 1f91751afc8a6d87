"""A text says nothing of the text that is packed behind it."""

import torch

from sanitizer_invariants.tools import copies
from sanitizer_invariants.tools.identity import IdentitySet, IdentityTable
from sanitizer_invariants.tools.invariant import Invariant, is_sampled
from sanitizer_invariants.tools.texts import compare, is_text, replace
from sanitizer_invariants.tools.tracing import trace_call

# Texts of fewer tokens may be something else.
LENGTH, TEXTS, FIRST = 2, 3, 2


class PackedTexts(Invariant):
    """Where the places of the tokens begin anew in a row, what a network says of the tokens behind
    does not depend on those before.

    Why: who packs several texts in a row and counts their places anew wants each one read by
    itself. A mask that is only causal lets each text look at the ones before it, which have nothing
    to do with it.

    Of a table of tokens that is given to a module in training together with a table of places, of
    the same shape: each place is the one before and one more, or 0; some row has three texts or
    more, of two tokens or more. In a copy in evaluation mode the tokens of the first text of that
    row are replaced: the outputs for the second text must not change by more than a thousandth.

    Excepted: pairs of sentences; several rows with borders at the same places (the columns of a
    grid); padding whose places are 0; modules that draw random numbers, or give nothing for each
    token.

    Cost: three calls of a copy at the first two such calls of a module and then at each 200th.
    """

    NAME, LIGHT = "packed-texts", False
    VERSION = 4

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.reported = IdentityTable(), IdentitySet()

    def before_forward(self, module, arguments, options):
        module = copies.unwrap(module)
        if not torch.is_grad_enabled() or not module.training or module in self.reported:
            return
        tables = find_tables(self.program.list_given(arguments, options))
        if tables is None:
            return
        self.calls[module] = self.calls.get(module, 0) + 1
        twin = None
        if is_sampled(self.calls[module], 200, FIRST):
            twin = copies.duplicate_all(module, arguments, options)
        if twin and copies.attempt(self.program, depends_on_text_before, *twin, *tables):
            self.reported.add(module)
            self.report(
                f"the places of the tokens begin anew in a row, and what {type(module).__name__} "
                "says of the second text changes with the first one",
                api="torch.nn.Module.__call__",
            )


def find_tables(tensors):
    """The number of the table of tokens, and row, begin and end of a second text; or None."""
    for places in tensors:
        piece = find_second(places) if is_text(places) else None
        for number, tokens in enumerate(tensors):
            if piece and tokens is not places and is_text(tokens) and tokens.shape == places.shape:
                return number, piece
    return None


def find_second(places):
    """Row, begin and end of a text that is packed behind another; None where there is none."""
    places = places.detach()
    steps = places[:, 1:] - places[:, :-1]
    begins = places[:, 1:] == 0
    counts = bool((begins | (steps == 1)).all()) and bool((places[:, 0] == 0).all())
    is_grid = len(places) > 1 and bool((begins == begins[:1]).all())
    if not counts or is_grid:
        return None
    for row in range(len(places)):
        found = (begins[row].nonzero().flatten() + 1).tolist()
        borders = [0, *found, places.shape[1]]
        lengths = [end - begin for begin, end in zip(borders, borders[1:])]  # noqa: B905
        if len(lengths) >= TEXTS and min(lengths) >= LENGTH:
            return row, borders[1], borders[2]
    return None


def depends_on_text_before(module, arguments, options, number, piece):
    """Whether a copy's outputs for a second text change with the first one."""
    module.eval()
    row, begin, end = piece
    tokens = copies.list_tensors((arguments, options))[number]
    output, _ = trace_call(module, arguments, options, False)
    again, _ = trace_call(module, arguments, options, False)
    if not copies.are_identical(output, again):
        return False
    original = tokens.clone()
    replace(tokens[row : row + 1, :begin], 1)
    other, _ = trace_call(module, arguments, options, False)
    changed = tokens != original
    tokens.copy_(original)
    if not bool(changed.any()):
        return False
    pair = [select_row(tensors, original.shape, row, end) for tensors in (output, other)]
    differs = compare(*pair, ((1, end), 1, begin))
    return differs is not None and differs[0] and differs[1]


def select_row(tensors, shape, row, end):
    """Those parts of the outputs that are of the first two texts of a row."""
    return [
        tensor[row : row + 1, :end]
        for tensor in copies.list_tensors(tensors)
        if tuple(tensor.shape[:2]) == tuple(shape)
    ]
