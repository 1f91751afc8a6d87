"""What a campaign evaluates: detectors, programs, references,
and the program on which overheads are timed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.model import REFERENCES, Detector, Reference
from evaluation.records import rewritten_as
from runner.errors import UsageError

# The program on which overheads are timed by default: its run is long enough, and needs no data.
# Where it is not among the programs nothing is timed.
USUAL = "SO-60335387/digits"
# More pairs of runs make no median better, and a slip of the finger would run for days.
MAX_REPEATS = 1000


@dataclass(frozen=True)
class CampaignOptions:
    """What to evaluate. `bugs` are BUG or BUG/CASE (none: all whose data is there);
    None for `overhead_on`: no timing.

    `controls`: all of them, the `same` (basic ones in the environments of the bugs), or none.
    `references` are the kinds that detectors with reference runs are given. With `upstream` they
    meet the buggy scripts in releases with the real fix, too, with `all_seeds` each case that needs
    no data with all of its seeds, not only with the first one. By the seed `perturb` they meet the
    programs rewritten, by `plant` programs with planted faults; neither is timed. `committed`
    records are wanted: those of a detector that was not committed are made anew. `folder` is where
    records go in the results folder.
    """

    detectors: Sequence[Detector]
    bugs: Sequence[str] = ()
    controls: Literal["all", "same", "none"] = "all"
    references: tuple[Reference, ...] = REFERENCES
    overhead_on: str | None = USUAL
    repeats: int = 3
    force: bool = False
    timeout_s: float | None = None
    upstream: bool = False
    all_seeds: bool = False
    perturb: int | None = None
    plant: int | None = None
    committed: bool = False
    folder: str = "detectors"

    def __post_init__(self) -> None:
        """Raise UsageError for options that contradict each other."""
        names = [detector.name for detector in self.detectors]
        for name in {name for name in names if names.count(name) > 1}:
            raise UsageError(
                f"two detectors are named {name!r}: their records would be mixed; "
                "name one at a time"
            )
        if not 1 <= self.repeats <= MAX_REPEATS:
            raise UsageError(f"repeats are {self.repeats}, expected 1 to {MAX_REPEATS}")
        if self.perturb is not None and self.plant is not None:
            raise UsageError(
                "programs are perturbed or planted with faults: name one of --perturb and --plant"
            )
        if self.upstream and self.rewriting:
            raise UsageError(
                "--upstream is for scripts as they are published: leave out --perturb and --plant"
            )
        if self.rewriting and self.overhead_on not in (None, USUAL):
            raise UsageError(
                f"--overhead {self.overhead_on}: rewritten programs are not timed; leave it out"
            )

    @property
    def rewriting(self) -> str:
        """How programs are rewritten, with the seed: the name of a folder;
        empty where they are as published.
        """
        return rewritten_as(self.perturb, self.plant)
