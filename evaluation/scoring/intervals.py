"""Confidence intervals of rates: Wilson's, also of programs that come in clusters, as the cases of one bug do."""

import math
from collections.abc import Sequence
from statistics import NormalDist

Interval = tuple[float | None, float | None]
Z = NormalDist().inv_cdf(0.975)


def wilson(count: float, n: float, quantile: float = Z) -> Interval:
    """The 95 % interval of a proportion after Wilson (1927); None where nothing was counted."""
    if n == 0:
        return None, None
    share = count / n
    spread = quantile * quantile / n
    centre = (share + spread / 2) / (1 + spread)
    half = quantile / (1 + spread) * math.sqrt(share * (1 - share) / n + spread / (4 * n))
    low = max(0.0, centre - half) if count else 0.0
    high = min(1.0, centre + half) if count < n else 1.0
    return low, high


def clustered(counts: Sequence[int], sizes: Sequence[int]) -> Interval:
    """The 95 % interval of a proportion that was counted in clusters: so many of so many programs in each.

    Wilson's interval of the effective sample size, which is n over the design effect, with the quantile of Student's t
    for the number of clusters (Dean and Pagano, Evaluating Confidence Interval Methods for Binomial Proportions in
    Clustered Surveys, Journal of Survey Statistics and Methodology 3, 2015). The design effect lies between 1 and that
    of clusters which are all or nothing; it is the latter where it cannot be estimated (all, none, or one cluster).
    """
    n, clusters = sum(sizes), len(sizes)
    if n == 0:
        return None, None
    share = sum(counts) / n
    largest = sum(size * size for size in sizes) / n
    if share in (0, 1) or clusters == 1:
        return wilson(share * n / largest, n / largest)
    deviations = [count - share * size for count, size in zip(counts, sizes, strict=True)]
    between = sum(deviation**2 for deviation in deviations)
    effect = clusters / (clusters - 1) * between / (n * share * (1 - share))
    effective = n / min(max(effect, 1.0), largest)
    return wilson(share * effective, effective, student(clusters - 1))


def student(freedom: int) -> float:
    """The 97.5 % quantile of Student's t, to 0.2 %: Abramowitz and Stegun (1964), 26.7.5; exact for 1 and 2."""
    p = 0.975
    if freedom == 1:
        return math.tan(math.pi * (p - 0.5))
    if freedom == 2:
        return (2 * p - 1) * math.sqrt(2 / (4 * p * (1 - p)))
    terms = (
        (Z**3 + Z) / 4,
        (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96,
        (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384,
        (79 * Z**9 + 776 * Z**7 + 1482 * Z**5 - 1920 * Z**3 - 945 * Z) / 92160,
    )
    return float(Z + sum(term / freedom**power for power, term in enumerate(terms, 1)))
