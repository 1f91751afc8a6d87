"""What is read is not what is to be foretold."""

from sanitizer_invariants.tools.texts import TextRule

SAME, NEXT = 0.95, 0.5


class CopiedInput(TextRule):
    """The targets of a network whose outputs read the text up to their place are not the tokens
    at that place.

    Why: the token is what it has just read, and copying it is all that it learns. Inputs and labels
    are to be shifted by one against each other.

    Of a table of tokens that is given to a module in training, and targets of `cross_entropy` or
    `nll_loss` of which 95 % are the token at their place. In a copy in evaluation mode the second
    half of all texts is replaced, and then the first: the outputs for the second half change with
    both, those for the first half with the first alone.

    Excepted: texts of which a tenth of the first half is no target; networks that read the whole
    text (autoencoders, and those that find what was masked); modules that draw random numbers, or
    give nothing for each token.

    Cost: six calls of a copy at the third such call of a module and then at each 200th.
    """

    NAME, LIGHT = "copied-input", False
    VERSION = 4

    def is_meant(self, same, following):
        return same >= SAME and following <= NEXT

    def judge(self, module, probe):
        reads_before = probe.second_by_first and not probe.first_by_second
        is_copied = reads_before and probe.second_by_second and probe.last_by_last
        if is_copied:
            self.report(
                f"{type(module).__name__} reads each text up to a place, and its targets are the "
                "tokens at that place: labels are not shifted, and it learns to copy",
                api="torch.nn.functional.cross_entropy",
            )
        return is_copied
