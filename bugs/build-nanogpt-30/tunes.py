"""Made tunes of two collections, dances in major and songs in minor, as numbers of notes."""

import torch

START, LOWEST, NOTES = 0, 1, 26
TOKENS = LOWEST + NOTES
PHRASE = 8
LENGTH = 1 + 4 * PHRASE
COLLECTIONS = ["dances", "songs"]
SCALES = {"dances": [0, 2, 4, 5, 7, 9, 11], "songs": [0, 2, 3, 5, 7, 8, 10]}
# Dances leap along the chord, songs go by step.
INTERVALS = {"dances": [-4, -2, 2, 2, 4], "songs": [-1, -1, 0, 1, 1]}


def phrase(scale, intervals, draw):
    degree = draw(7)
    degrees = [degree]
    while len(degrees) < PHRASE:
        degree += intervals[draw(len(intervals))]
        degree = -degree if degree < 0 else 26 - degree if degree > 13 else degree
        degrees.append(degree)
    return [12 * (degree // 7) + scale[degree % 7] for degree in degrees]


def load(count, collection, seed):
    """Return tunes, int64 of shape (count, LENGTH): two phrases, each played twice, the second time to the keynote."""
    generator = torch.Generator().manual_seed(seed)

    def draw(below):
        return torch.randint(below, (), generator=generator).item()

    tunes = []
    for _ in range(count):
        tune = [START]
        for _ in range(2):
            notes = [LOWEST + note for note in phrase(SCALES[collection], INTERVALS[collection], draw)]
            tune += notes + notes[:-1] + [LOWEST + 12]
        tunes.append(tune)
    return torch.tensor(tunes)
