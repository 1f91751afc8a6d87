"""A forecast: how long the runs of targets take, by the committed records, before the first one
starts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from runner.bugs.bug import Target
from runner.environments import spec
from runner.execution.estimate import Estimate, estimates
from runner.plurals import counted
from runner.progress.board import duration
from runner.session.options import Options

# A shorter wait is over before it is read.
SHORTEST_S = 60


@dataclass(frozen=True)
class Forecast:
    """The seconds of all runs together, how many runs nobody has timed, how many are done at a
    time, and the environments that are to be built first.
    """

    seconds: float
    untimed: int
    at_a_time: int
    missing: tuple[str, ...]

    @property
    def is_long(self) -> bool:
        """Whether a user should hear of it."""
        return bool(self.missing) or self.seconds >= SHORTEST_S

    def times(self, count: int) -> "Forecast":
        """The forecast where each program runs so many times."""
        return replace(self, seconds=self.seconds * count, untimed=self.untimed * count)

    def __str__(self) -> str:
        parts = [f"about {duration(self.seconds)} of runs by the committed records"]
        if self.at_a_time > 1:
            parts.append(f"{self.at_a_time} at a time {duration(self.seconds / self.at_a_time)}")
        if self.untimed:
            parts.append(f"{counted(self.untimed, 'run')} that nobody has timed")
        if self.missing:
            parts.append(f"{counted(len(self.missing), 'environment')} to build first")
        return ", ".join(parts)


def together(parts: Sequence[Forecast]) -> Forecast:
    """The forecast of all these, on the same machine."""
    missing = dict.fromkeys(chain.from_iterable(part.missing for part in parts))
    return Forecast(
        sum(part.seconds for part in parts),
        sum(part.untimed for part in parts),
        max((part.at_a_time for part in parts), default=1),
        tuple(missing),
    )


def forecast(
    root: Path, targets: Sequence[Target], options: Options, only_first_seed: bool = False
) -> Forecast:
    """The forecast of these targets on this machine; finished runs are not looked for."""
    times = [seconds for target in targets for seconds in _times(target, options, only_first_seed)]
    return Forecast(
        sum(seconds for seconds in times if seconds is not None),
        times.count(None),
        options.at_a_time,
        _missing(root, targets, options),
    )


def _times(target: Target, options: Options, only_first_seed: bool) -> list[float | None]:
    """The expected seconds of each run of a target; None where they are not known."""
    seeds = options.seeds or target.case.program.seeds[: 1 if only_first_seed else None]
    by_variant = estimates(target.bug, target.case)
    once = [by_variant.get(name, Estimate()).seconds for name in target.variants]
    return once * len(seeds) * options.repeat


def _missing(root: Path, targets: Sequence[Target], options: Options) -> tuple[str, ...]:
    """The names of the environments that are not built here."""
    if options.python or options.executor != "local":
        return ()
    places = {
        options.environment or target.case.program.variants[name].place
        for target in targets
        for name in target.variants
    }
    environments = [spec.load(root, place) for place in sorted(places)]
    return tuple(environment.name for environment in environments if spec.find(environment) is None)
