"""What is to be foretold is not read."""

from sanitizer_invariants.tools.texts import TextRule

SAME, NEXT = 0.5, 0.95


class ReadsAhead(TextRule):
    """A network that learns the next token of what it reads does not read that token.

    Why: its loss becomes small by copying, and at the end of a text, where it is to go on, there is
    nothing to copy. The mask of an attention is missing, transposed or not handed on (`is_causal`
    is a hint and no mask), a recurrent layer is bidirectional, a convolution is padded on both
    sides, or a normalisation takes the axis of the text.

    Of a table of tokens that is given to a module in training, and targets of `cross_entropy` or
    `nll_loss` of which 95 % are the token behind their place. In a copy in evaluation mode the
    second half of all texts is replaced: the outputs for the first half must not change by more
    than a thousandth. Of a module that computes this loss itself, the scores that it gives to it.

    Excepted: texts of which a tenth of the first half is no target; modules that draw random
    numbers (a latent variable may know the whole text), that give nothing for each token, or get
    the same tokens in another argument (as an encoder does); texts of which a mask hides a place
    of the first half, or one token fills up their beginnings, as padding on the left.

    Cost: five calls of a copy at the third such call of a module and then at each 200th.
    """

    NAME, LIGHT = "reads-ahead", False
    VERSION = 4

    def is_meant(self, same, following):
        return following >= NEXT and same <= SAME

    def judge(self, module, probe):
        if probe.first_by_second:
            self.report(
                f"{type(module).__name__} learns the next token of what it reads, and its outputs "
                "change with the tokens behind their place: it sees what it is to foretell",
                api=probe.culprit,
            )
        return probe.first_by_second
