"""A made network of proteins: which of them bind to each other, and which were found to do so only later."""

import torch


def pairs(proteins, seed):
    """All pairs that bind, as an edge index of shape (2, E), and which of them were found only later: one in five.

    Each protein has hidden sites, and a popularity; pairs that fit, and popular ones, bind more often.
    """
    generator = torch.Generator().manual_seed(1000 + seed)
    sites = torch.randn(proteins, 5, generator=generator)
    popularity = torch.randn(proteins, generator=generator)
    fits = sites @ sites.T / 5**0.5 + 0.4 * (popularity + popularity[:, None])
    bound = torch.rand(proteins, proteins, generator=generator) < (2.5 * fits - 8).sigmoid()
    found = bound.triu(1).nonzero().T
    return found, torch.rand(found.shape[1], generator=generator) < 0.2


def load(proteins, seed):
    """The network as it was known at first: an edge index with both directions of each pair."""
    found, later = pairs(proteins, seed)
    known = found[:, ~later]
    return torch.cat([known, known.flip(0)], 1)
