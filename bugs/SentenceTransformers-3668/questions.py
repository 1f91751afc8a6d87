"""Made questions, labelled by what kind of answer they ask for, in shares as in the TREC data set."""

import random

from tokenizers import Tokenizer, models, pre_tokenizers

THINGS = ["telephone", "compass", "piano", "bicycle", "engine", "kettle", "lantern", "anchor", "violin", "camera"]
PLACES = ["norway", "peru", "kenya", "nepal", "cuba", "ghana", "chile", "malta", "oman", "fiji", "latvia", "laos"]
PEOPLE = ["king", "poet", "sailor", "painter", "doctor", "singer", "farmer", "judge", "chemist", "pilot", "dancer"]
LETTERS = ["bpr", "cdq", "fgh", "klm", "nst", "vwx", "zrt", "lpq", "hjk", "mdc", "gbn", "sxv"]
# Of each kind: its share of TREC's questions, and how they are put.
KINDS = {
    "abbreviation": (86, ["what does {letters} stand for", "what is {letters} short for", "{letters} means what"]),
    "description": (
        1162,
        [
            "what is a {thing}",
            "why did the {person} leave {place}",
            "how does a {thing} work",
            "what is life like in {place}",
        ],
    ),
    "entity": (
        1250,
        [
            "what colour is the flag of {place}",
            "which animal is found in {place}",
            "what tool does a {person} use most",
        ],
    ),
    "human": (
        1223,
        ["who invented the {thing}", "name the {person} who lived in {place}", "what {person} owned the first {thing}"],
    ),
    "location": (
        835,
        [
            "where is the {thing} made",
            "in which town of {place} was the {person} born",
            "what is the capital of {place}",
        ],
    ),
    "number": (
        896,
        [
            "how many people live in {place}",
            "when did the {person} come to {place}",
            "what does a {thing} cost in {place}",
        ],
    ),
}


def load(count, seed):
    """Texts, and the number of the kind of each."""
    chooser = random.Random(seed)
    labels = chooser.choices(range(len(KINDS)), [share for share, _ in KINDS.values()], k=count)
    texts = []
    for label in labels:
        _, wordings = list(KINDS.values())[label]
        names = {
            "thing": chooser.choice(THINGS),
            "place": chooser.choice(PLACES),
            "person": chooser.choice(PEOPLE),
            "letters": chooser.choice(LETTERS),
        }
        texts.append(chooser.choice(wordings).format(**names))
    return texts, labels


def triplets(texts, labels, seed):
    """For each text another one of the same kind, and one of another kind."""
    chooser = random.Random(seed)
    places = list(range(len(texts)))
    positives, negatives = [], []
    for place in places:
        same = [other for other in places if labels[other] == labels[place] and other != place]
        apart = [other for other in places if labels[other] != labels[place]]
        positives.append(texts[chooser.choice(same or [place])])
        negatives.append(texts[chooser.choice(apart)])
    return {"anchors": texts, "positives": positives, "negatives": negatives}


def word_tokenizer():
    """A token for each word."""
    sentences = [wording for _, wordings in KINDS.values() for wording in wordings]
    words = {word for sentence in sentences for word in sentence.split() if word[0] != "{"}
    names = ["[PAD]", "[UNK]", *sorted(words.union(THINGS, PLACES, PEOPLE, LETTERS))]
    tokenizer = Tokenizer(models.WordLevel({name: number for number, name in enumerate(names)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer
