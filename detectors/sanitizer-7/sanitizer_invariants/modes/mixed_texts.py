"""A text is read by itself."""

from sanitizer_invariants.tools.texts import TextRule

SAME, NEXT = 0.5, 0.95


class MixedTexts(TextRule):
    """What a network that learns the next token says of a text does not depend on the other texts
    of its batch.

    Why: which texts share a batch is chance. A recurrent layer without `batch_first` that is given
    texts as rows goes from one text to the next, and so does an attention.

    Of a table of tokens that is given to a module in training, and targets of `cross_entropy` or
    `nll_loss` of which 95 % are the token behind their place, which says which axis is the text. In
    a copy in evaluation mode the first half of the texts is replaced: the outputs for the second
    half must not change by more than a thousandth.

    Excepted: texts of which a tenth of the first half is no target; modules that draw random
    numbers, or give nothing for each token. Experts with a limited capacity are not.

    Cost: five calls of a copy at the third such call of a module and then at each 200th.
    """

    NAME, LIGHT = "mixed-texts", False
    VERSION = 4

    def is_meant(self, same, following):
        return following >= NEXT and same <= SAME

    def judge(self, module, probe):
        if probe.text_by_text:
            self.report(
                f"{type(module).__name__} learns the next token, and what it says of a text "
                "changes with the other texts of the batch: it takes their axis for that of the "
                "text",
                api="torch.nn.Module.__call__",
            )
        return probe.text_by_text
