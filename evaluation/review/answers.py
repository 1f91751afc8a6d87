"""Answers of reviewers, from a file that anybody may have written: a JSON object a line."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from evaluation.exporting import problem_lines, refuse_unknown_task
from runner.errors import ResultsError
from runner.field_types import Day
from runner.files import untrusted
from runner.files.structs import MismatchError, as_struct

MAX_BYTES = 200_000_000
MAX_LINE_BYTES = 1_000_000
MAX_LINES = 100_000
ShortText = Annotated[str, Meta(max_length=4000)]
Label = Annotated[str, Meta(min_length=1, max_length=200)]
Amount = Annotated[float, Meta(ge=0, le=1e12)]
LineNumber = Annotated[int, Meta(ge=1, le=1_000_000)]


class Suspect(Struct, frozen=True, forbid_unknown_fields=True):
    """A place that a reviewer suspects. `file` is that of the line, program.py by default."""

    line: LineNumber | None = None
    api: ShortText | None = None
    why: ShortText = ""
    file: ShortText = "program.py"


class ReviewAnswer(Struct, frozen=True, forbid_unknown_fields=True):
    """A reviewer's answer to one task.

    `sample` counts the answers of one model to one task from 0. `suspicion` is 0 (no bug) to 100
    (certain). `suspects` begin with the likeliest. `model_date` is the day from which on the model
    knows nothing; `tokens` and `cost` (US dollars) are what the answer took.
    """

    id: Annotated[str, Meta(pattern=r"^[0-9a-f]{16}$(?!\n)")]
    suspicion: Annotated[float, Meta(ge=0, le=100)]
    model: Label
    sample: Annotated[int, Meta(ge=0, le=10_000)] = 0
    suspects: Annotated[tuple[Suspect, ...], Meta(max_length=100)] = ()
    patch: Annotated[str, Meta(max_length=500_000)] | None = None
    model_date: Day | None = None
    tokens: Amount | None = None
    cost: Amount | None = None


@dataclass(frozen=True)
class ReadAnswers:
    """The answers of a file that can be scored, and a line for each that cannot."""

    answers: tuple[ReviewAnswer, ...]
    problems: tuple[str, ...]


def read_values(path: Path) -> Iterator[tuple[str, object]]:
    """What a file holds, for `collect_answers`: each line with its place.

    Raises ResultsError for a file that cannot be read at all.
    """
    name = untrusted.shown(path)
    try:
        lines = untrusted.read_bytes(path, MAX_BYTES).splitlines()
    except untrusted.UnsafeError as error:
        raise ResultsError(f"{name}: {error}") from error
    if len(lines) > MAX_LINES:
        raise ResultsError(f"{name} has {len(lines)} lines, expected at most {MAX_LINES}")
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield f"{name}, line {number}", _parse(line)


def collect_answers(values: Iterable[tuple[str, object]], ids: Collection[str]) -> ReadAnswers:
    """The answers to the tasks of these `ids`, from values with the places that they come from.

    What is wrong with one, or an error in its place, is a problem, and the others count. If all
    are wrong for the same reason, one line says so.
    """
    answers: dict[tuple[str, str, int], ReviewAnswer] = {}
    problems: list[tuple[str, Exception]] = []
    for where, value in values:
        try:
            if isinstance(value, Exception):
                raise value
            refuse_unknown_task(value, ids)
            answer = as_struct(value, ReviewAnswer)
            _refuse(answer, answers)
            answers[answer.model, answer.id, answer.sample] = answer
        except (untrusted.UnsafeError, MismatchError) as error:
            problems.append((where, error))
    return ReadAnswers(tuple(answers.values()), problem_lines(problems, bool(answers)))


def _parse(line: bytes) -> object:
    """The value of a line, or the error that it is."""
    if len(line) > MAX_LINE_BYTES:
        return MismatchError(f"has {len(line)} bytes, expected at most {MAX_LINE_BYTES}")
    try:
        return untrusted.parse_json(line)
    except untrusted.UnsafeError as error:
        return error


def _refuse(answer: ReviewAnswer, known: Collection[tuple[str, str, int]]) -> None:
    """Raise MismatchError for a sample that was there before."""
    if (answer.model, answer.id, answer.sample) in known:
        raise MismatchError(
            f"sample {answer.sample} of {answer.model} for {answer.id} was there before; number "
            "the samples of a task from 0"
        )
