"""Estimates of the time and memory of a run, from the expected runs of the same case and
variant.
"""

from dataclasses import dataclass

from runner.bugs.bug import Bug
from runner.bugs.case import Case
from runner.bugs.program import UPSTREAM, VARIANTS
from runner.errors import ResultsError
from runner.results.expected import expected_records


@dataclass(frozen=True)
class Estimate:
    """`seconds` is None where it is unknown; `memory_gb` is for all processes of the run together
    (10^9 bytes).
    """

    seconds: float | None = None
    memory_gb: float = 0.0


def estimates(bug: Bug, case: Case) -> dict[str, Estimate]:
    """The estimate for each variant; memory that the case declares takes precedence.

    Without readable expected records the time is None, and memory that is not declared 0.
    """
    try:
        records = expected_records(bug, case.name)
    except ResultsError:
        records = []
    by_variant = {}
    for variant in VARIANTS:
        variant_records = [record for record in records if record.variant == variant]
        # Linux reports the peak of the largest process only.
        peak = (
            max((record.peak_memory_mb for record in variant_records), default=0.0)
            / 1000
            * case.program.processes
        )
        seconds = max((record.wall_s for record in variant_records), default=None)
        by_variant[variant] = Estimate(
            seconds, peak if case.program.memory_gb is None else case.program.memory_gb
        )
    return by_variant | {UPSTREAM: by_variant["buggy"]}
