"""Exit statuses of commands, also where the reader of the output goes away before its end."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NewType

if TYPE_CHECKING:
    from runner.verdicts.outcome import Outcome

ExitStatus = NewType("ExitStatus", int)

SUCCESS = ExitStatus(0)
# A case is NOT REPRODUCED, a check failed, a bug directory has problems.
FAILURE = ExitStatus(1)
# Something is INVALID or cannot be read, or the command line is wrong.
INVALID = ExitStatus(2)
# `trainbugs watch` saw no step of an optimizer, so that its silence says nothing.
NOTHING_WATCHED = ExitStatus(3)


class ReaderLeftError(Exception):
    """The reader of the output went away when the exit status was already known."""

    def __init__(self, status: ExitStatus) -> None:
        super().__init__(status)
        self.status = status


@contextmanager
def reporting(status: ExitStatus) -> Iterator[None]:
    """A context for printing the outcome of a command:
    its exit status holds even if nobody reads to the end.
    """
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderLeftError(status) from error


def invalid_if(problem: object) -> ExitStatus:
    """INVALID where there is a problem, else SUCCESS."""
    return INVALID if problem else SUCCESS


def verdict_status(outcomes: "Sequence[Outcome]") -> ExitStatus:
    """SUCCESS if all is as expected, FAILURE if an expectation does not hold,
    INVALID if some case is INVALID.
    """
    if any(outcome.verdict.invalid for outcome in outcomes):
        return INVALID
    return FAILURE if any(outcome.verdict.failed for outcome in outcomes) else SUCCESS
