"""Times of the day, and how English says them."""

import torch

NAMES = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
END = "<end>"
OTHERS = ["past", "to", "minute", "minutes", "quarter", "half", "o'clock", "noon", "midnight"]
PARTS = ["in", "the", "morning", "afternoon", "evening", "at", "night"]
WORDS = [END, *NAMES, *OTHERS, *PARTS]


def part(hour):
    """The words for the part of the day."""
    if hour < 5 or hour >= 22:
        return ["at", "night"]
    return ["in", "the", "morning" if hour < 12 else "afternoon" if hour < 18 else "evening"]


def count(minutes):
    """The words for 1 to 30 minutes."""
    if minutes in (15, 30):
        return ["quarter" if minutes == 15 else "half"]
    names = [NAMES[minutes - 1]] if minutes <= 20 else [NAMES[19], NAMES[minutes - 21]]
    if minutes % 5 == 0:
        return names
    return [*names, "minute" if minutes == 1 else "minutes"]


def say(hour, minute):
    """The words of a time: 19:40 is twenty to eight in the evening."""
    if minute == 0 and hour % 12 == 0:
        return ["noon" if hour else "midnight"]
    if minute == 0:
        return [NAMES[(hour - 1) % 12], "o'clock", *part(hour)]
    if minute <= 30:
        return [*count(minute), "past", NAMES[(hour - 1) % 12], *part(hour)]
    return [*count(60 - minute), "to", NAMES[hour % 12], *part(hour)]


def sentence(indices):
    """The words before the first end, as one string."""
    words = [WORDS[index] for index in indices]
    return " ".join(words[: words.index(END)] if END in words else words)


def load(train, device):
    """Digits, a row of four for each time, and indices of its words with ends behind them; for both halves."""
    order = torch.randperm(24 * 60, generator=torch.Generator().manual_seed(0))
    said = [[WORDS.index(word) for word in say(*divmod(time, 60))] for time in order.tolist()]
    length = max(map(len, said)) + 1
    words = torch.tensor([row + [0] * (length - len(row)) for row in said])
    hours, minutes = order // 60, order % 60
    digits = torch.stack([hours // 10, hours % 10, minutes // 10, minutes % 10], 1)
    digits, words = digits.to(device), words.to(device)
    return (digits[:train], words[:train]), (digits[train:], words[train:])
