"""Made pairs of sentences that say the same in other words, and a tokenizer for their words."""

import itertools
import random

from tokenizers import Tokenizer, models, pre_tokenizers

PEOPLE = [
    ("doctor", "physician"), ("lawyer", "attorney"), ("teacher", "instructor"), ("kid", "child"),
    ("sailor", "mariner"), ("writer", "author"), ("boss", "manager"), ("thief", "burglar"),
    ("farmer", "grower"), ("actor", "performer"), ("cook", "chef"), ("guard", "sentry"),
]  # fmt: skip
MANNERS = [
    ("quickly", "rapidly"), ("slowly", "gradually"), ("often", "frequently"), ("rarely", "seldom"),
    ("quietly", "silently"), ("gladly", "happily"), ("finally", "eventually"), ("clearly", "obviously"),
]  # fmt: skip
ACTIONS = [
    ("bought", "purchased"), ("repaired", "mended"), ("lost", "misplaced"), ("wanted", "desired"), ("hid", "concealed"),
    ("chose", "selected"), ("showed", "displayed"), ("found", "discovered"), ("moved", "shifted"), ("got", "received"),
]  # fmt: skip
THINGS = [
    ("car", "automobile"), ("house", "home"), ("stone", "rock"), ("boat", "ship"),
    ("gift", "present"), ("couch", "sofa"), ("picture", "image"), ("jewel", "gem"),
    ("rug", "carpet"), ("coat", "jacket"), ("bag", "sack"), ("drink", "beverage"),
]  # fmt: skip


def load(*counts, seed):
    """For each count as many pairs: a sentence, and one with the other word of each pair of words. None comes twice."""
    chooser = random.Random(seed)
    meanings = chooser.sample(list(itertools.product(PEOPLE, MANNERS, ACTIONS, THINGS)), sum(counts))
    rows = []
    for meaning in meanings:
        sides = [chooser.randrange(2) for _ in meaning]
        one = [words[side] for words, side in zip(meaning, sides, strict=True)]
        other = [words[1 - side] for words, side in zip(meaning, sides, strict=True)]
        rows.append((say(*one), say(*other)))
    starts = itertools.accumulate(counts, initial=0)
    return [rows[start : start + count] for start, count in zip(starts, counts, strict=False)]


def say(person, manner, action, thing):
    return f"the {person} {manner} {action} the {thing}"


def word_tokenizer():
    words = [word for pairs in (PEOPLE, MANNERS, ACTIONS, THINGS) for pair in pairs for word in pair]
    vocabulary = ["[PAD]", "[UNK]", "the", *sorted(words)]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer
