"""The order in which a detector's checks are done:
it does not tell buggy programs from fixed ones.
"""

from collections.abc import Iterable

from evaluation.running.program import ShownProgram


def neutral_order(programs: Iterable[ShownProgram]) -> list[ShownProgram]:
    """The programs, ordered by the keys of their runs: a detector might remember."""
    return sorted(programs, key=lambda program: program.key)
