"""The oracle of planted faults: whether a program trains worse with the fault than without,
over several seeds.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner.field_types import Record

# Words in the names of metrics that are better low, and of those that are better high; the first
# that fits counts.
LOW = ("loss", "error", "perplexity", "nll", "mse", "distance")
HIGH = ("accuracy", "r2", "reward", "return", "score", "auc", "f1")
# A difference below this share of the clean value is no harm, however little the seeds differ.
SHARE = 0.05
# What counts as the end of a training: this share of its records.
END = 0.25

Runs = Mapping[int, Sequence[Record]]


@dataclass(frozen=True)
class PlantedHarm:
    """Whether a fault does harm, and by what it shows, or why it does not."""

    shown: bool
    why: str


def judge_metrics(
    clean: Runs, planted: Runs, volatile: frozenset[str] = frozenset(), judged_by_loss: bool = True
) -> PlantedHarm:
    """Whether some metric ends worse with the fault,
    in the runs of the same seeds (records by seed).

    A metric ends at the mean of the last quarter of its values, at least one; at infinity (on its
    bad side) where one of them is not finite. Harm is shown where the best of the planted runs is
    worse than the worst of the clean ones, by more than the clean ones differ among each other, and
    by more than 5 % of that worst clean one.

    Metrics are recognised by their names (LOW, HIGH); none that is `volatile` counts, and without
    `judged_by_loss` none that is called a loss.
    """
    names = [
        name
        for name in _metrics(clean)
        if name not in volatile and (judged_by_loss or "loss" not in name)
    ]
    if not names:
        return PlantedHarm(False, "no metric tells how good a run is")
    for name in names:
        best, worst = _ends(name, clean)
        planted_best, _ = _ends(name, planted)
        tolerance = max(worst - best, SHARE * abs(worst))
        if math.isfinite(worst) and planted_best - worst > tolerance:
            return PlantedHarm(
                True,
                f"{name} ends at {abs(planted_best):.4g} at best, "
                f"without the fault at {abs(worst):.4g} at worst",
            )
    return PlantedHarm(False, f"{', '.join(names)}: not worse by more than the seeds differ")


def judge_moves(clean: int | None, planted: int | None) -> PlantedHarm:
    """Whether fewer tensors of parameters change during the training than without the fault; None:
    not known.
    """
    if clean is None or planted is None:
        return PlantedHarm(False, "it was not seen which parameters move")
    return PlantedHarm(
        planted < clean, f"{planted} tensors of parameters move, without the fault {clean}"
    )


def _metrics(runs: Runs) -> list[str]:
    """The metrics that tell how good a run is, and are in every run, in the order of records."""
    first_run = next(iter(runs.values()))
    names = dict.fromkeys(name for record in first_run for name in record if _sign(name))
    return [name for name in names if _is_in_all(name, runs)]


def _is_in_all(name: str, runs: Runs) -> bool:
    return all(_values(name, run) for run in runs.values())


def _sign(name: str) -> int:
    """1 for a metric that is better low, -1 for a metric that is better high, else 0."""
    lower_name = name.lower()
    if any(word in lower_name for word in LOW):
        return 1
    if any(word in lower_name for word in HIGH):
        return -1
    return 0


def _values(name: str, run: Sequence[Record]) -> list[float]:
    """The values of a metric in a run; a text, as of a number that is not finite,
    counts as infinity.
    """
    values = []
    for record in run:
        value = record.get(name)
        if isinstance(value, str):
            values.append(math.inf)
        elif isinstance(value, int | float):
            values.append(float(value))
    return values


def _ends(name: str, runs: Runs) -> tuple[float, float]:
    """The best and the worst end among runs, as numbers that are better low."""
    ends = [_end(_values(name, run), _sign(name)) for run in runs.values()]
    return min(ends), max(ends)


def _end(values: Sequence[float], sign: int) -> float:
    count = max(1, int(END * len(values)))
    last_values = values[-count:]
    if not last_values or not all(math.isfinite(value) for value in last_values):
        return math.inf
    return sign * math.fsum(last_values) / len(last_values)
