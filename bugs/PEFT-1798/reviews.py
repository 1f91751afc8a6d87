"""Made reviews of restaurants and of hotels, as word numbers, and the words that sum them up."""

import torch

PAD, BEGIN, END = 0, 1, 2
VERDICTS = ["bad", "fair", "good"]
PRAISE = {"restaurant": ["tasty", "fresh", "warm", "generous"], "hotel": ["quiet", "clean", "bright", "central"]}
BLAME = {"restaurant": ["bland", "stale", "cold", "meagre"], "hotel": ["loud", "dirty", "dark", "remote"]}
THINGS = {"restaurant": ["soup", "bread", "fish", "rice"], "hotel": ["room", "bath", "bed", "hall"]}
SMALL = ["the", "was", "and", "very", "not"]
WORDS = ["<pad>", "<s>", "</s>", *VERDICTS, *SMALL]
for place in ("restaurant", "hotel"):
    WORDS += PRAISE[place] + BLAME[place] + THINGS[place]
NUMBERS = {word: number for number, word in enumerate(WORDS)}
LENGTH = 26


def review(place, generator):
    def pick(words):
        return words[int(torch.randint(len(words), (1,), generator=generator))]

    words, balance = [], 0
    for _ in range(4):
        praised, negated, stressed = torch.randint(2, (3,), generator=generator).tolist()
        words += [
            "the",
            pick(THINGS[place]),
            "was",
            *["not"] * negated,
            *["very"] * stressed,
            pick((PRAISE if praised else BLAME)[place]),
        ]
        balance += 1 if praised != negated else -1
    return words, VERDICTS[(balance > 0) - (balance < 0) + 1]


def load(place, count, seed):
    """Tensors (count, length) of words, their mask, and (count, 2) of the verdict and the end."""
    generator = torch.Generator().manual_seed(seed)
    words = torch.full((count, LENGTH), PAD)
    labels = torch.full((count, 2), END)
    for row in range(count):
        text, verdict = review(place, generator)
        words[row, : len(text)] = torch.tensor([NUMBERS[word] for word in text])
        labels[row, 0] = NUMBERS[verdict]
    return words, (words != PAD).long(), labels
