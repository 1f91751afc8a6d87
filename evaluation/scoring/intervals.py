"""Confidence intervals of rates: Wilson's, also for programs in clusters,
such as the cases of a bug.
"""

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
    variance = share * (1 - share) / n + spread / (4 * n)
    half = quantile / (1 + spread) * math.sqrt(variance)
    low, high = 0.0, 1.0
    if count:
        low = max(low, centre - half)
    if count < n:
        high = min(high, centre + half)
    return low, high


def clustered(counts: Sequence[int], sizes: Sequence[int]) -> Interval:
    """The 95 % interval of a proportion that was counted in clusters; `counts` of `sizes` programs.

    This is Wilson's interval for the effective sample size, which is n over the design effect, with
    the quantile of Student's t for the number of clusters. See Dean and Pagano, Evaluating
    Confidence Interval Methods for Binomial Proportions in Clustered Surveys, Journal of Survey
    Statistics and Methodology 3, 2015. The design effect lies between 1 and the effect of clusters
    that are all or nothing. The latter is used where the effect cannot be estimated: all programs
    count, none does, or there is a single cluster.
    """
    n, clusters = sum(sizes), len(sizes)
    if n == 0:
        return None, None
    share = sum(counts) / n
    largest = sum(size * size for size in sizes) / n
    if share in (0, 1) or clusters == 1:
        return wilson(share * n / largest, n / largest)
    pairs = zip(counts, sizes, strict=True)
    between = sum((count - share * size) ** 2 for count, size in pairs)
    independent = n * share * (1 - share)
    effect = clusters / (clusters - 1) * between / independent
    effective = n / min(max(effect, 1.0), largest)
    quantile = student(clusters - 1)
    return wilson(share * effective, effective, quantile)


def bracketed(interval: Interval) -> str:
    """An interval behind its rate, such as " [0.40, 0.60]"; nothing where it is unknown."""
    low, high = interval
    return "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"


def student(freedom: int) -> float:
    """The 97.5 % quantile of Student's t, to 0.2 %, and exact for 1 and 2 degrees of freedom.

    The series is Abramowitz and Stegun (1964), 26.7.5.
    """
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
    corrections = [term / freedom**power for power, term in enumerate(terms, 1)]
    return float(Z + sum(corrections))
