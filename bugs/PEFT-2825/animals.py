"""Made sentences about animals, as word numbers: where each lives, how it moves, and what it eats."""

import torch

KNOWN = [
    *["otter", "badger", "heron", "adder", "marten", "curlew", "beaver", "weasel", "plover", "viper", "lynx", "magpie"],
    *["hare", "newt", "kestrel", "shrew", "osprey", "vole", "toad", "siskin", "ibex", "stoat", "grebe", "wolf"],
]
NEW = ["quokka", "numbat", "bilby", "potoroo", "dunnart", "kowari", "mulgara", "bettong"]
HOMES = ["river", "forest", "marsh", "meadow", "cliff", "desert"]
MOVES = ["walks", "swims", "climbs", "flies"]
FOODS = ["fish", "seeds", "beetles", "roots", "eggs", "mice"]
FACTS = [HOMES, MOVES, FOODS]
SMALL = ["<pad>", "the", "lives", "in", "and", "eats", "often", "through", "finds", "."]
WORDS = SMALL + HOMES + MOVES + FOODS + KNOWN + NEW
NUMBERS = {word: number for number, word in enumerate(WORDS)}
PAD = NUMBERS["<pad>"]
NEW_NUMBERS = [NUMBERS[animal] for animal in NEW]
FACT_NUMBERS = torch.tensor([NUMBERS[word] for words in FACTS for word in words])
LENGTH = 12


def learn_facts(seed):
    """For each animal a home, a way to move, and a food."""
    generator = torch.Generator().manual_seed(seed)
    return {
        animal: [words[int(torch.randint(len(words), (1,), generator=generator))] for words in FACTS]
        for animal in KNOWN + NEW
    }


def sentence(animal, facts, form):
    home, move, food = facts[animal]
    return [
        f"the {animal} lives in the {home} and eats {food} .",
        f"the {animal} often {move} through the {home} .",
        f"the {animal} {move} and finds {food} in the {home} .",
    ][form].split()


def load(animals, count, facts, seed):
    """A tensor (count, LENGTH) of words, with PAD at the end of each row."""
    generator = torch.Generator().manual_seed(seed)
    words = torch.full((count, LENGTH), PAD)
    for row in range(count):
        animal = animals[int(torch.randint(len(animals), (1,), generator=generator))]
        form = int(torch.randint(3, (1,), generator=generator))
        text = [NUMBERS[word] for word in sentence(animal, facts, form)]
        words[row, : len(text)] = torch.tensor(text)
    return words
