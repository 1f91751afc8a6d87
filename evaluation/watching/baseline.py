"""The baseline file: findings that were there already, and that `trainbugs watch` passes over."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from evaluation.watching.silencing import Mark
from runner.errors import UsageError
from runner.files import untrusted
from runner.files.atomic import write_json
from runner.files.structs import MismatchError, as_struct

MAX_BYTES = 20_000_000


class BaselineFinding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A finding by its invariant, its file from the working directory, and the text of its line."""

    invariant: str
    file: str | None
    text: str | None


class Baseline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `trainbugs watch --write-baseline` writes, and `--baseline` reads."""

    schema: Literal[1]
    findings: tuple[BaselineFinding, ...]


def read(path: Path) -> frozenset[Mark]:
    """The marks in a baseline file; raises UsageError where it is none."""
    try:
        baseline = as_struct(untrusted.read_json(path, MAX_BYTES), Baseline)
    except (untrusted.UnsafeError, MismatchError) as error:
        reason = str(error).removeprefix("cannot be read: ")
        raise UsageError(
            f"--baseline {path}: cannot be read: {reason}; --write-baseline writes it"
        ) from error
    return frozenset(
        (finding.invariant, finding.file, finding.text) for finding in baseline.findings
    )


def write(path: Path, marks: Sequence[Mark]) -> None:
    """Write the marks as a baseline file."""
    baseline = Baseline(schema=1, findings=tuple(BaselineFinding(*mark) for mark in marks))
    write_json(path, msgspec.to_builtins(baseline))
