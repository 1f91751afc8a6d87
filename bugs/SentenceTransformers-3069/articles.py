"""Made articles about towns: passages, questions that they answer, and rows in the order of the articles."""

import random

from tokenizers import Tokenizer, models, pre_tokenizers

SOUNDS = ["ba", "do", "ki", "lu", "me", "no", "ra", "si", "ta", "ve", "wo", "zu"]
RIVERS = ["arno", "dart", "elbe", "forth", "indus", "loire", "neva", "oder", "rhone", "tagus", "volga", "weser"]
GOODS = ["cheese", "clocks", "cloth", "glass", "honey", "paper", "pottery", "rope", "salt", "ships", "silk", "wine"]
HEADS = ["baker", "doctor", "farmer", "judge", "lawyer", "painter", "pilot", "singer", "smith", "tailor", "teacher"]
COLOURS = ["black", "blue", "brown", "green", "grey", "orange", "pink", "purple", "red", "white", "yellow"]
SIGHTS = ["abbey", "bridge", "castle", "fountain", "harbour", "library", "market", "museum", "palace", "tower"]
YEARS = [str(year) for year in range(1100, 1900, 50)]
COUNTS = [str(count) for count in range(2000, 40000, 2000)]
# What a passage says, and four ways to ask for it.
TOPICS = [
    (
        "the river {value} flows through {town}",
        RIVERS,
        [
            "which river flows through {town}",
            "what is the river of {town} called",
            "on which river lies {town}",
            "name the river at {town}",
        ],
    ),
    (
        "{town} is known for its {value}",
        GOODS,
        [
            "what is {town} known for",
            "what do people make in {town}",
            "which goods come from {town}",
            "name the trade of {town}",
        ],
    ),
    (
        "the mayor of {town} was a {value} before",
        HEADS,
        [
            "what was the mayor of {town} before",
            "which work did the mayor of {town} do",
            "who became mayor of {town}",
            "name the profession of the mayor of {town}",
        ],
    ),
    (
        "the flag of {town} is {value}",
        COLOURS,
        [
            "which colour has the flag of {town}",
            "what does the flag of {town} look like",
            "in which colour is the flag of {town}",
            "describe the flag of {town}",
        ],
    ),
    (
        "visitors of {town} go to see the {value}",
        SIGHTS,
        [
            "what do visitors see in {town}",
            "which building in {town} is famous",
            "where do visitors of {town} go",
            "name a sight of {town}",
        ],
    ),
    (
        "{town} was founded in {value}",
        YEARS,
        [
            "when was {town} founded",
            "in which year did {town} begin",
            "since when is there {town}",
            "how old is {town}",
        ],
    ),
    (
        "{value} people live in {town}",
        COUNTS,
        [
            "how many people live in {town}",
            "what is the population of {town}",
            "how large is {town}",
            "count the people of {town}",
        ],
    ),
    (
        "the trains of {town} go to the {value}",
        ["coast", "east", "hills", "lakes", "mountains", "north", "south", "west"],
        [
            "where do the trains of {town} go",
            "to which place runs the train from {town}",
            "which trains leave {town}",
            "name the end of the line from {town}",
        ],
    ),
]


def load(towns, asked, seed):
    """Questions and passages for training, and the passages' questions for validation, by their numbers.

    A row is a question with its passage. Rows lie as one would write them down: town after town, passage after passage,
    and the questions about a passage one after the other.
    """
    chooser = random.Random(seed)
    names = chooser.sample([a + b + c for a in SOUNDS for b in SOUNDS for c in SOUNDS], towns)
    rows, passages, others = {"question": [], "passage": []}, [], []
    for town in names:
        for wording, values, questions in TOPICS:
            passages.append(wording.format(town=town, value=chooser.choice(values)))
            wordings = chooser.sample(questions, asked + 1)
            for question in wordings[:asked]:
                rows["question"].append(question.format(town=town))
                rows["passage"].append(passages[-1])
            others.append(wordings[asked].format(town=town))
    return rows, passages, others


def word_tokenizer(texts):
    """A token for each word."""
    words = {word for text in texts for word in text.split()}
    numbers = {name: number for number, name in enumerate(["[PAD]", "[UNK]", *sorted(words)])}
    tokenizer = Tokenizer(models.WordLevel(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer
