"""Made sentences: each word chooses the next one among a few, by the grammar of a language."""

import torch

SUCCESSORS = 4


def grammar(words, seed):
    """The probability of each next word (words, words): every word has a few successors."""
    generator = torch.Generator().manual_seed(seed)
    table = torch.zeros(words, words)
    for row in table:
        row[torch.randperm(words, generator=generator)[:SUCCESSORS]] = torch.tensor([0.55, 0.25, 0.15, 0.05])
    return table


def dialect(table, share, seed):
    """The same grammar, in which some of the words have other successors."""
    generator = torch.Generator().manual_seed(seed)
    changed = torch.randperm(len(table), generator=generator)[: int(share * len(table))]
    other = table.clone()
    other[changed] = grammar(len(table), seed + 1)[changed]
    return other


def sentences(table, count, length, seed):
    """Tokens (count, length) that follow the grammar."""
    generator = torch.Generator().manual_seed(seed)
    words = [torch.randint(len(table), (count,), generator=generator)]
    for _ in range(length - 1):
        words.append(torch.multinomial(table[words[-1]], 1, generator=generator)[:, 0])
    return torch.stack(words, 1)
