"""A language model learns the next token."""

import torch

from sanitizer_invariants.tools.invariant import Invariant

CALLS, LEAST = 3, 8
MOST, FEW = 0.7, 0.4


class SkippedToken(Invariant):
    """The targets of a language model are not its inputs of two places on.

    Why: the target of a place is the token behind it. Where the program shifts the labels, and the
    model does so once more, it is the one behind that, and the model learns to leave out every
    other token.

    Inputs are the first argument (or `input_ids`), of shape (texts, places); targets those of
    `cross_entropy`. In three calls in a row 70 % of the targets are the input two places on, and at
    most 40 % the next one.

    Excepted: programs that also learn the next token (heads for several), and targets of other
    kinds. A target that is also the input of its own place says nothing (a text may repeat itself
    after two places): where less than 40 % are left nothing is said, and neither where 70 % of the
    inputs at these places are the same, as those that a mask hides.

    Cost: three comparisons of the tokens of a batch, and a count of each of its tokens, for the
    first 50 of 500 calls.
    """

    NAME = "skipped-token"
    VERSION = 2

    def __init__(self, program, report):
        super().__init__(program, report)
        self.tokens, self.calls, self.counts, self.has_next = None, 0, {}, False

    def before_forward(self, module, arguments, options):
        inputs = find_tokens(arguments, options)
        self.tokens = self.tokens if inputs is None else inputs

    def after_loss(self, name, arguments, output):
        if (
            name != "cross_entropy"
            or self.tokens is None
            or self.has_next
            or not output.requires_grad
        ):
            return
        self.calls += 1
        target = arguments["target"]
        if (
            self.calls % 500 >= 50
            or target.dtype != torch.long
            or target.device != self.tokens.device
        ):
            return
        shares = is_match(self.tokens, target, arguments["ignore_index"])
        if shares is None:
            return
        following, skipped = shares
        self.has_next = following >= MOST
        where = self.program.here()
        self.counts[where] = (
            self.counts.get(where, 0) + 1 if skipped >= MOST and following <= FEW else 0
        )
        if self.counts[where] == CALLS:
            self.report(
                "the targets of the model are the tokens two places behind its inputs, not the "
                "next ones: labels are shifted twice",
                api="torch.nn.functional.cross_entropy",
            )


def find_tokens(arguments, options):
    """What a language model reads, or None."""
    inputs = options.get("input_ids", arguments[0] if arguments else None)
    is_text = isinstance(inputs, torch.Tensor) and inputs.dim() == 2 and inputs.dtype == torch.long
    return inputs.detach() if is_text and inputs.shape[1] >= 4 and not inputs.is_meta else None


def is_match(find_tokens, target, ignored):
    """The shares of targets that are the next token, and the one behind it;
    None where too few can tell.
    """
    if target.numel() % len(find_tokens) or not target.numel():
        return None
    target = target.reshape(len(find_tokens), -1)
    shares = []
    for shift in (1, 2):
        places = min(target.shape[1], find_tokens.shape[1] - shift)
        part, inputs = target[:, :places], find_tokens[:, :places]
        counts = part != ignored
        least = LEAST
        if shift == 2:
            least = max(LEAST, FEW * int(counts.sum()))
            counts &= (part != inputs) & (not is_mask(inputs[counts]))
        number = int(counts.sum())
        if number < least:
            return None
        shares.append(
            int(((part == find_tokens[:, shift : shift + places]) & counts).sum()) / number
        )
    return shares


def is_mask(inputs):
    """Whether most inputs at the places of targets are the same:
    they hide what is to be found out.
    """
    return len(inputs) > 0 and int(inputs.unique(return_counts=True)[1].max()) >= MOST * len(inputs)
