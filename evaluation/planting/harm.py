"""The oracle of planted faults: whether a program trains worse with the fault than without, over several seeds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner.fields import Record

# Words in the names of metrics that are better low, and of those that are better high; the first that fits counts.
LOW = ("loss", "error", "perplexity", "nll", "mse", "distance")
HIGH = ("accuracy", "r2", "reward", "return", "score", "auc", "f1")
# A difference below this share of the clean value is no harm, however little the seeds differ.
SHARE = 0.05
# What counts as the end of a training: this share of its records.
END = 0.25

Runs = Mapping[int, Sequence[Record]]


@dataclass(frozen=True)
class Harm:
    """Whether a fault does harm, and by what it shows, or why it does not."""

    shown: bool
    why: str


def harm(
    clean: Runs, planted: Runs, volatile: frozenset[str] = frozenset(), judged_by_loss: bool = True
) -> Harm:
    """Whether some metric ends worse with the fault, in the runs of the same seeds (records by seed).

    A metric ends at the mean of the last quarter of its values, at least one; at infinity (on its bad side) where one
    of them is not finite. Harm is shown where the best of the planted runs is worse than the worst of the clean ones,
    by more than the clean ones differ among each other, and by more than 5 % of that worst clean one.

    Metrics are recognised by their names (LOW, HIGH); none that is `volatile` counts, and without `judged_by_loss` none
    that is called a loss.
    """
    names = [
        name
        for name in _metrics(clean)
        if name not in volatile and (judged_by_loss or "loss" not in name)
    ]
    if not names:
        return Harm(False, "no metric tells how good a run is")
    found = [(name, *_ends(name, clean), *_ends(name, planted)) for name in names]
    for name, best, worst, planted_best, _ in found:
        if math.isfinite(worst) and planted_best - worst > max(worst - best, SHARE * abs(worst)):
            return Harm(
                True,
                f"{name} ends at {abs(planted_best):.4g} at best, without the fault at {abs(worst):.4g} at worst",
            )
    return Harm(False, f"{', '.join(names)}: not worse by more than the seeds differ")


def moves(clean: int | None, planted: int | None) -> Harm:
    """Whether fewer tensors of parameters change during the training than without the fault; None: not known."""
    if clean is None or planted is None:
        return Harm(False, "it was not seen which parameters move")
    return Harm(planted < clean, f"{planted} tensors of parameters move, without the fault {clean}")


def _metrics(runs: Runs) -> list[str]:
    """The metrics of records, in their order, that tell how good a run is, and are there in each run."""
    first, *others = runs.values()
    names = dict.fromkeys(name for record in first for name in record if _sign(name))
    return [name for name in names if all(_values(name, run) for run in (first, *others))]


def _sign(name: str) -> int:
    """1 of a metric that is better low, -1 of one that is better high, 0 of any other."""
    words = name.lower()
    return (
        1
        if any(each in words for each in LOW)
        else -1
        if any(each in words for each in HIGH)
        else 0
    )


def _values(name: str, run: Sequence[Record]) -> list[float]:
    values = (record.get(name) for record in run)
    return [
        math.inf if isinstance(value, str) else float(value)
        for value in values
        if isinstance(value, int | float | str)
    ]


def _ends(name: str, runs: Runs) -> tuple[float, float]:
    """The best and the worst end among runs, as numbers that are better low."""
    ends = [_end(_values(name, run), _sign(name)) for run in runs.values()]
    return min(ends), max(ends)


def _end(values: Sequence[float], sign: int) -> float:
    last = values[-max(1, int(END * len(values))) :]
    if not last or not all(math.isfinite(value) for value in last):
        return math.inf
    return sign * math.fsum(last) / len(last)
