"""A text is more than its words."""

from sanitizer_invariants.tools.texts import TextRule

SAME, NEXT = 0.5, 0.95


class OrderBlind(TextRule):
    """A network that learns the next token depends on the order of the tokens before.

    Why: what comes next depends on it. An attention sees a set: the order comes in by a code of the
    places that is added to the tokens. Where that is missing, is zero, or counts along the axis of
    the batch, "the dog bites the man" and "the man bites the dog" go on alike.

    Of a table of tokens that is given to a module in training, and targets of `cross_entropy` or
    `nll_loss` of which 95 % are the token behind their place. In a copy in evaluation mode the
    tokens of the first half are turned round, all but the last: the outputs for the second half
    stay as they are, but for rounding, although they change with these tokens.

    Excepted: texts of which a tenth of the first half is no target; modules that draw random
    numbers, give nothing for each token, or read ahead; texts of fewer than eight places.

    Cost: five calls of a copy at the third such call of a module and then at each 200th.
    """

    NAME, LIGHT = "order-blind", False
    VERSION = 4

    def is_meant(self, same, following):
        return following >= NEXT and same <= SAME

    def judge(self, module, probe):
        is_blind = probe.second_by_first and not (probe.second_by_order or probe.first_by_second)
        if is_blind:
            self.report(
                f"{type(module).__name__} learns the next token, and what it says does not change "
                "with the order of the tokens before: it has no code of their places",
                api="torch.nn.Module.__call__",
            )
        return is_blind
