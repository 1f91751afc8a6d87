"""The state of a case for a detector, over all seeds that it was asked about: what the website, the
figures and their legends say.
"""

from collections.abc import Sequence
from typing import Protocol

FOUND, BOTH, FALSE, SILENT, ABSENT = (
    "found",
    "also on fixed",
    "false alarm",
    "silent",
    "did not run",
)
# An alarm on the buggy program, and no answer about the fixed one: nobody knows whether it is about
# the fault.
UNPAIRED = "fixed did not run"
# All alarms came before the fault acts: they cannot be about it, and neither DETECTED nor PAIRED
# counts them.
EARLY = "before the fault"
# From best to worst to read.
STATES = (FOUND, EARLY, UNPAIRED, BOTH, FALSE, SILENT, ABSENT)


class Answer(Protocol):
    """A row of outcomes."""

    @property
    def status(self) -> str: ...
    @property
    def alarmed(self) -> bool: ...
    @property
    def early(self) -> bool: ...


def case_state(buggy: Sequence[Answer], fixed: Sequence[Answer]) -> str:
    """The state of a case by the answers about its buggy programs, of which there are some, and
    about their fixed twins.
    """
    if any(answer.status != "ok" for answer in buggy):
        return ABSENT
    alarmed = [answer for answer in buggy if answer.alarmed]
    is_fixed_accused = any(answer.alarmed for answer in fixed)
    if not alarmed:
        return FALSE if is_fixed_accused else SILENT
    if is_fixed_accused:
        return BOTH
    if not fixed or any(answer.status != "ok" for answer in fixed):
        return UNPAIRED
    return EARLY if all(answer.early for answer in alarmed) else FOUND
