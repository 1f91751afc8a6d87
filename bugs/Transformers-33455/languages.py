"""Words of made languages: each of them likes other letters, and other letters behind each letter."""

import torch

LETTERS = 20


def load(languages, words, length, seed):
    """Return words and the language of each: int64 of shapes (words, length) and (words,).

    The languages are the same for every seed; the words are not.
    """
    habits = torch.Generator().manual_seed(0)
    liked = torch.randn(languages, 1, LETTERS, generator=habits)
    following = torch.softmax(liked + torch.randn(languages, LETTERS, LETTERS, generator=habits), dim=-1)
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(languages, (words,), generator=generator)
    letters = [torch.randint(LETTERS, (words,), generator=generator)]
    while len(letters) < length:
        letters.append(torch.multinomial(following[labels, letters[-1]], 1, generator=generator).squeeze(1))
    return torch.stack(letters, dim=1), labels
