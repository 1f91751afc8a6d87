"""What will a run take? Seconds and memory of the expected runs of the same case and variant."""

from dataclasses import dataclass

from runner.bugs.model import VARIANTS, Bug, Case
from runner.errors import ResultsError
from runner.results.expected import expected_records


@dataclass(frozen=True)
class Estimate:
    """`seconds` is None where nobody knows; `memory_gb` is of all processes of the run together (10^9 bytes)."""

    seconds: float | None = None
    memory_gb: float = 0.0


def estimates(bug: Bug, case: Case) -> dict[str, Estimate]:
    """By variant; empty where there are no expected records to read. What the case declares to need comes first."""
    try:
        records = expected_records(bug, case.name)
    except ResultsError:
        records = []
    found = {}
    for variant in VARIANTS:
        own = [record for record in records if record.variant == variant]
        # Linux tells the peak of the largest process only.
        peak = max((record.peak_memory_mb for record in own), default=0.0) / 1000 * case.program.processes
        seconds = max((record.wall_s for record in own), default=None)
        found[variant] = Estimate(seconds, peak if case.program.memory_gb is None else case.program.memory_gb)
    return found
