"""planted.json: which planted faults do harm, and by what it shows, or why they are discarded."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct, to_builtins

from runner.errors import ResultsError
from runner.files import untrusted
from runner.files.atomic import write_json
from runner.files.structs import MismatchError, as_struct

FILE = "planted.json"
MAX_BYTES = 10_000_000


class Judgement(Struct, frozen=True, forbid_unknown_fields=True):
    """A fault by its operator in a clean program: whether it does harm,
    and why it counts or does not.
    """

    program: str
    operator: str
    title: str
    line: int | None
    harm: bool
    why: str


def write(folder: Path, judgements: Iterable[Judgement], scratch: Path | None = None) -> Path:
    """Write the file of a folder, sorted by programs; raises ResultsError."""
    path = folder / FILE
    ordered = sorted(judgements, key=lambda judgement: (judgement.program, judgement.operator))
    write_json(path, [to_builtins(judgement) for judgement in ordered], scratch)
    return path


def read(folder: Path) -> tuple[Judgement, ...]:
    """The judgements in the file of a folder, none where there is no file;
    raises ResultsError for any other.
    """
    path = folder / FILE
    if not path.exists():
        return ()
    try:
        value = untrusted.parse_json(untrusted.read_bytes(path, MAX_BYTES))
        return as_struct(value, tuple[Judgement, ...])
    except (untrusted.UnsafeError, MismatchError) as error:
        raise ResultsError(
            f"{untrusted.shown(path)}: no list of planted faults: {error}; move it away"
        ) from error


def merge(earlier: Iterable[Judgement], later: Iterable[Judgement]) -> list[Judgement]:
    """Both; of a program only the later ones, where there are some."""
    newer = list(later)
    judged_again = {judgement.program for judgement in newer}
    older = [judgement for judgement in earlier if judgement.program not in judged_again]
    return [*older, *newer]
