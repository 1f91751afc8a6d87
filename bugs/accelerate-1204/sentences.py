"""Made sentences: each word chooses the next one among a few."""

import torch


def load(words, count, length, seed):
    """Tokens (count, length) of the language of that many words; the language is the same for every seed."""
    rules = torch.Generator().manual_seed(0)
    successors = torch.stack([torch.randperm(words, generator=rules)[:4] for _ in range(words)])
    chances = torch.tensor([0.55, 0.25, 0.15, 0.05])
    generator = torch.Generator().manual_seed(seed)
    tokens = [torch.randint(words, (count,), generator=generator)]
    for _ in range(length - 1):
        choice = torch.multinomial(chances, count, replacement=True, generator=generator)
        tokens.append(successors[tokens[-1], choice])
    return torch.stack(tokens, 1)
