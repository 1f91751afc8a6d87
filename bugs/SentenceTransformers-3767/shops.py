"""Made questions about shops, and the passages that answer them: short and long ones."""

import random

from tokenizers import Tokenizer, models, pre_tokenizers, processors


def words_of(text):
    return text.split()


TRADES = words_of(
    "bread cheese flowers shoes hats books lamps clocks bicycles pianos violins paint timber tiles rugs curtains tea "
    "coffee wine honey fish spices candles soap mirrors knives pots umbrellas stamps toys kites tents boats saddles "
    "seeds roses ladders buttons wool ropes"
)
TOWNS = words_of(
    "lund bergen turku tartu riga vilnius gdansk torun brno linz graz pecs szeged arad sibiu varna bitola kotor split "
    "pula trieste padua lucca bari cadiz murcia braga porto pau nimes metz ghent breda bremen jena ulm chur galway "
    "cork leeds"
)
OPENINGS = ["", "", "please tell me", "i would really like to know", "my neighbour and i were wondering today"]
QUESTIONS = ["where can i buy {trade} in {town}", "who sells {trade} in {town}", "{trade} {town}"]
ANSWERS = ["{town} has a shop for {trade}", "{trade} are sold by a family in {town}", "you find {trade} in {town}"]
CLOSINGS = [
    "",
    "it is open every day but sunday",
    "the owner is kind and speaks four languages",
    "follow the river to the old bridge and turn left behind the small white church",
]


def load(training, validation, seed):
    """Two lists of (question, passage), each about another trade in another town."""
    chooser = random.Random(seed)
    topics = [(trade, town) for trade in TRADES for town in TOWNS]
    pairs = []
    for trade, town in chooser.sample(topics, training + validation):
        question = " ".join([chooser.choice(OPENINGS), chooser.choice(QUESTIONS)])
        passage = " ".join([chooser.choice(ANSWERS), *chooser.sample(CLOSINGS, 2)])
        names = {"trade": trade, "town": town}
        pairs.append((" ".join(question.format(**names).split()), " ".join(passage.format(**names).split())))
    return pairs[:training], pairs[training:]


def word_tokenizer():
    """A token for each word, [CLS] before a text and [SEP] behind it."""
    sentences = [*OPENINGS, *QUESTIONS, *ANSWERS, *CLOSINGS]
    words = {word for sentence in sentences for word in sentence.split() if word[0] != "{"}
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *sorted(words.union(TRADES, TOWNS))]
    vocabulary = {name: number for number, name in enumerate(names)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])]
    )
    return tokenizer
