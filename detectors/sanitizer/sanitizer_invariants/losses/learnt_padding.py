"""What fills up short texts is nothing to learn."""

import torch

from sanitizer_invariants.tools.invariant import Invariant, is_sampled
from sanitizer_invariants.tools.texts import is_text

LOSSES, CALLS, LEAST, TEXTS, WORDS = ("cross_entropy", "nll_loss"), 5, 0.1, 4, 8


class LearntPadding(Invariant):
    """A loss over words leaves out the word that fills up short texts.

    Why: where all texts of a batch are made as long as the longest, the word behind their ends
    stands for nothing. A network that has to say it learns that first, and a mean over all targets
    says little of the words.

    A word fills up where it stands at the ends of texts alone, in runs of different lengths, of
    several for a quarter of them; in the five batches before. Seen of `cross_entropy` or
    `nll_loss`, reduced to one number, in training: a tenth of the targets are this word, as many as
    the network has read of it, and they count. An error where another word, the same one in all
    batches, ends all texts that are filled up; else advice, since the first word of the filling may
    say that a text is over.

    Excepted: what an embedding declares as padding, and networks that are given a mask, which is
    for `counted-padding` and `masked-targets` to say; targets that are no words of the same texts,
    as tags; less than nine words; weights of classes; words that stand elsewhere as well; batches
    of less than four texts.

    Cost: a few comparisons of the words for the first five batches, and then for each 100th.
    """

    NAME = "learnt-padding"
    VERSION = 6

    def __init__(self, program, report):
        super().__init__(program, report)
        self.calls, self.row = 0, 0
        # The word that fills up all batches so far; None before the first, False where none does.
        self.word, self.count, self.most = None, 0, 0
        # The words that may end all texts; None before the first batch.
        self.ends = None

    def before_forward(self, module, arguments, options):
        if not torch.is_grad_enabled() or self.word is False:
            return
        tensors = self.program.list_given(arguments, options)
        texts = [tensor for tensor in tensors if is_text(tensor)]
        if not texts or any(map(is_mask, tensors)):
            return
        self.calls += 1
        self.count = 0
        is_declared = self.word in find_declared(module)
        if is_sampled(self.calls, 100, CALLS) and not is_declared:
            self._read(texts)

    def _read(self, texts):
        """Note what fills up the texts, and the least of its numbers in one of the tables."""
        fillings = [find_filling(tokens) for tokens in texts]
        words = {word for word, _ in fillings if word is not None}
        if len(words) != 1 or self.word not in (None, *words):
            self.word = False
            return
        self.word, self.count = words.pop(), min(count for word, count in fillings if count)
        self.most = max(int(tokens.max()) for tokens in texts)
        ends = set().union(*[find_ends(tokens, self.word) for tokens in texts])
        self.ends = ends if self.ends is None else self.ends & ends
        if self.most < WORDS:
            # Of so few states one may be the last on purpose.
            self.word = False

    def after_loss(self, name, arguments, output):
        if name not in LOSSES or not self.count or not output.requires_grad:
            return
        scores, target = arguments["input"], arguments["target"]
        if scores.dim() < 2 or scores.shape[1] <= self.most:
            # They are not words of these texts.
            return
        is_left_out = arguments["ignore_index"] == self.word or arguments["reduction"] == "none"
        if is_left_out or arguments.get("weight") is not None or target.dtype != torch.long:
            return
        learnt = int((target.detach() == self.word).sum())
        is_counted = learnt >= max(self.count * 0.9, target.numel() * LEAST)
        self.row = self.row + 1 if is_counted else 0
        self.count = 0
        if self.row == CALLS:
            self.report(
                f"{learnt / target.numel():.0%} of the targets are word {self.word}, which stands "
                "behind the ends of texts alone, and the loss counts them (is an ignore_index "
                "missing?)",
                api=f"torch.nn.functional.{name}",
                severity="error" if self.ends else "info",
            )


def is_mask(tensor):
    """Whether a tensor says yes or no to each token, by truth or by 0 and 1."""
    if tensor.dtype == torch.bool:
        return True
    is_table = tensor.dim() > 1 and tensor.numel() > 0 and not tensor.is_meta
    return is_table and bool(((tensor == 0) | (tensor == 1)).all())


def find_declared(module):
    """The words that the embeddings of a network declare as padding."""
    parts = [part for part in module.modules() if isinstance(part, torch.nn.Embedding)]
    return {part.padding_idx for part in parts if part.padding_idx is not None}


def find_filling(tokens):
    """The word that stands at the ends of texts alone, in runs of different lengths, and how often
    it stands there; (None, 0) where there is none.
    """
    for texts in (tokens, tokens.T):
        if len(texts) < TEXTS:
            continue
        for word in texts[:, -1].unique().tolist():
            is_word = texts == word
            lengths = is_word.flip(1).long().cumprod(1).sum(1)
            is_at_ends = int(is_word.sum()) == int(lengths.sum())
            is_uneven = len(lengths.unique()) > 1 and int(lengths.max()) < texts.shape[1]
            if is_at_ends and is_uneven and int((lengths > 1).sum()) * 4 >= len(texts):
                return word, int(lengths.sum())
    return None, 0


def find_ends(tokens, filling):
    """The words of which one stands before the filling of all texts, along either axis."""
    ends = set()
    for texts in (tokens, tokens.T):
        is_filling = texts == filling
        lengths = is_filling.flip(1).long().cumprod(1).sum(1)
        is_short = (lengths > 0) & (lengths < texts.shape[1])
        if int(is_short.sum()) < TEXTS // 2 or int(is_filling.sum()) != int(lengths.sum()):
            continue
        last = texts.shape[1] - 1 - lengths[is_short]
        words = texts[is_short].gather(1, last[:, None]).unique().tolist()
        ends |= set(words) if len(words) == 1 else set()
    return ends
