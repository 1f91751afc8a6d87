"""Whole numbers, and how English spells them."""

import torch

ONES = [
    "zero",
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
]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
END = "<end>"
WORDS = [END, *ONES, *TENS, "hundred", "thousand", "and"]


def spell(number):
    """The words of a number from 1 to 9999: 2107 is two thousand one hundred and seven."""
    words = []
    thousands, number = divmod(number, 1000)
    hundreds, number = divmod(number, 100)
    if thousands:
        words += [ONES[thousands], "thousand"]
    if hundreds:
        words += [ONES[hundreds], "hundred"]
    if words and number:
        words.append("and")
    if number >= 20:
        words.append(TENS[number // 10 - 2])
        number %= 10
    if number:
        words.append(ONES[number])
    return words


def sentence(indices):
    """The words before the first end, as one string."""
    words = [WORDS[index] for index in indices]
    return " ".join(words[: words.index(END)] if END in words else words)


def load(train, validation, device):
    """Digits, a row of four for each number, and indices of its words with ends behind them; two such pairs."""
    order = torch.randperm(9999, generator=torch.Generator().manual_seed(0))[: train + validation] + 1
    spelled = [[WORDS.index(word) for word in spell(number)] for number in order.tolist()]
    length = max(map(len, spelled)) + 1
    words = torch.tensor([row + [0] * (length - len(row)) for row in spelled])
    digits = order[:, None] // torch.tensor([1000, 100, 10, 1]) % 10
    digits, words = digits.to(device), words.to(device)
    return (digits[:train], words[:train]), (digits[train:], words[train:])
