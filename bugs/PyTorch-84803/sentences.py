"""Sentences of a made language, and their translations into another one: other words, another order, other forms."""

import torch

ADJECTIVES, NOUNS, VERBS = 6, 10, 6
PAD, START, END = 0, 1, 2
FIRST_ADJECTIVE, FIRST_NOUN, FIRST_VERB = 3, 3 + ADJECTIVES, 3 + ADJECTIVES + NOUNS
PAST = FIRST_VERB + VERBS
SOURCE_WORDS = PAST + 1
# In the other language a noun has two forms, for the subject and for the object, and a verb has two, for both times.
OBJECTS = FIRST_VERB + 2 * VERBS
TARGET_WORDS = OBJECTS + NOUNS
LENGTH = 10


def load(count, dictionary_seed, seed):
    """Return (sources, targets), int64 of shape (count, LENGTH): `past? adjective* noun verb adjective* noun`.

    The translation has subject, object and verb in this order, and adjectives behind their nouns.
    """
    generator = torch.Generator().manual_seed(dictionary_seed)
    adjectives, nouns, verbs = (torch.randperm(n, generator=generator).tolist() for n in (ADJECTIVES, NOUNS, VERBS))
    generator = torch.Generator().manual_seed(seed)

    def draw(below):
        return torch.randint(below, (), generator=generator).item()

    def pad(words):
        return words + [PAD] * (LENGTH - len(words))

    sources, targets = [], []
    for _ in range(count):
        past, verb = draw(2), draw(VERBS)
        source, target = [PAST] * past, [START]
        for role in range(2):
            described, noun = [draw(ADJECTIVES) for _ in range(draw(3))], draw(NOUNS)
            source += [FIRST_ADJECTIVE + word for word in described] + [FIRST_NOUN + noun]
            target += [(OBJECTS if role else FIRST_NOUN) + nouns[noun]]
            target += [FIRST_ADJECTIVE + adjectives[word] for word in described]
            if role == 0:
                source.append(FIRST_VERB + verb)
        target += [FIRST_VERB + verbs[verb] + past * VERBS, END]
        sources.append(pad(source))
        targets.append(pad(target))
    return torch.tensor(sources), torch.tensor(targets)
