"""Made songs: a progression of four chords in some key, again and again, sixteen bars long."""

import torch

# A chord is its root, from 0 (C) to 11 (B), and 12 more if it is minor.
KEYS = 12
CHORDS = 2 * KEYS
BARS = 16
NAMES = ["C", "Db", "D", "Eb", "E", "F", "Gb", "G", "Ab", "A", "Bb", "B"]
NAMES += [name + "m" for name in NAMES]
PROGRESSIONS = {
    "I V vi IV": [(0, 0), (7, 0), (9, 1), (5, 0)],
    "I vi IV V": [(0, 0), (9, 1), (5, 0), (7, 0)],
    "ii V I vi": [(2, 1), (7, 0), (0, 0), (9, 1)],
    "i VII VI V": [(0, 1), (10, 0), (8, 0), (7, 0)],
    "I iii IV iv": [(0, 0), (4, 1), (5, 0), (5, 1)],
    "i iv VII III": [(0, 1), (5, 1), (10, 0), (3, 0)],
}


def load(count, seed):
    """Songs (count, bars), each in a key of its own, which begin with any chord of their progression."""
    generator = torch.Generator().manual_seed(seed)
    kinds = torch.tensor(list(PROGRESSIONS.values()))
    chosen = kinds[torch.randint(len(kinds), (count,), generator=generator)]
    keys = torch.randint(KEYS, (count, 1), generator=generator)
    starts = torch.randint(4, (count, 1), generator=generator)
    chords = (chosen[:, :, 0] + keys) % KEYS + KEYS * chosen[:, :, 1]
    return chords.gather(1, (torch.arange(BARS) + starts) % 4)
