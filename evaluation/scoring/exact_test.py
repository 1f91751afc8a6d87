"""Exact tests of pairs: McNemar's, by programs and by families, and Holm's correction."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import comb


@dataclass(frozen=True)
class FamilyTest:
    """How two answers about the same programs differ: programs on which one alone is a hit, and
    families on which one is a hit more often.

    `p` is McNemar's p over programs, `p_families` over families: a family counts once, since its
    programs are not independent.
    """

    both: int
    only_first: int
    only_second: int
    neither: int
    families: int
    families_first: int
    families_second: int

    @property
    def p(self) -> float:
        """The p over programs."""
        return mcnemar(self.only_first, self.only_second)

    @property
    def p_families(self) -> float:
        """The p over families."""
        return mcnemar(self.families_first, self.families_second)


def family_test(pairs: Iterable[tuple[str, bool, bool]]) -> FamilyTest:
    """The test of pairs of answers: the family of a program, and whether either is a hit."""
    counts: Counter[tuple[bool, bool]] = Counter()
    # How many more of a family's programs the first one hit.
    leads: Counter[str] = Counter()
    for family, first, second in pairs:
        counts[first, second] += 1
        leads[family] += first - second
    return FamilyTest(
        both=counts[True, True],
        only_first=counts[True, False],
        only_second=counts[False, True],
        neither=counts[False, False],
        families=len(leads),
        families_first=sum(lead > 0 for lead in leads.values()),
        families_second=sum(lead < 0 for lead in leads.values()),
    )


def mcnemar(only_first: int, only_second: int) -> float:
    """The two-sided p of McNemar's exact test (1947):
    programs that differ fall like a fair coin.
    """
    n = only_first + only_second
    fewer = min(only_first, only_second)
    # Whole numbers first: with thousands of programs a float would overflow.
    ways = sum(comb(n, k) for k in range(fewer + 1))
    p: float = 2 * ways / (1 << n)
    return min(1.0, p)


def holm(values: list[float]) -> list[float]:
    """P-values adjusted for as many tests, after Holm (1979)."""
    adjusted = [0.0] * len(values)
    largest = 0.0
    order = sorted(range(len(values)), key=values.__getitem__)
    for rank, index in enumerate(order):
        remaining = len(values) - rank
        corrected = min(1.0, remaining * values[index])
        largest = max(largest, corrected)
        adjusted[index] = largest
    return adjusted
