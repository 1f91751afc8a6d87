"""Patches of repairs, from a file or a folder that anybody may have written."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import whatthepatch
from msgspec import Meta, Struct

from evaluation.exporting import problem_lines, refuse_unknown_task
from evaluation.model import SCRIPT
from runner.errors import ResultsError, TrainbugsError
from runner.files import untrusted
from runner.files.structs import MismatchError, as_struct

MAX_BYTES = 200_000_000
MAX_PATCH_BYTES = 500_000
MAX_FILES = 100_000
# Lines of a patched program: to compare many equal ones takes minutes.
MAX_LINES = 10_000
# Of the files of a folder, each of which is a patch.
SUFFIXES = (".py", ".diff")
# How a line of a unified diff begins that has a line of the program, and one that begins a hunk.
CHANGE = ("+", "-", " ")
HUNK = re.compile(r"@@ -\d{1,9}(,\d{1,9})? \+\d{1,9}(,\d{1,9})? @@")
# The model of a patch that does not say who made it.
NOBODY = "-"
TaskId = Annotated[str, Meta(pattern=r"^[0-9a-f]{16}$(?!\n)")]
PatchText = Annotated[str, Meta(max_length=MAX_PATCH_BYTES)]


class PatchError(TrainbugsError):
    """A patch does not apply to the program of its task."""


class Patch(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of a file of patches: the whole new `script`, or a unified diff of program.py as
    `patch`. `model` is who made it.
    """

    id: TaskId
    script: PatchText | None = None
    patch: PatchText | None = None
    model: Annotated[str, Meta(min_length=1, max_length=200)] = NOBODY


@dataclass(frozen=True)
class ReadPatches:
    """The patches that can be graded, and a line for each that cannot."""

    patches: tuple[Patch, ...]
    problems: tuple[str, ...]


def read_values(path: Path) -> Iterator[tuple[str, object]]:
    """What a JSONL file holds, or a folder with ID.py (whole scripts) and ID.diff: values for
    `collect_patches`.

    Raises ResultsError for what cannot be read at all.
    """
    if path.is_dir():
        return _from_folder(path)
    if path.suffix in SUFFIXES:
        raise ResultsError(
            f"{untrusted.shown(path)}: expected a file with a line of JSON for each patch; of a "
            "program or a diff name the folder that holds it"
        )
    return _from_file(path)


def collect_patches(values: Iterable[tuple[str, object]], ids: Collection[str]) -> ReadPatches:
    """The patches for the tasks of these `ids`, from values with the places that they come from.

    What is wrong with one, or an error in its place, is a problem, and the others count. If all
    are wrong for the same reason, one line says so.
    """
    patches: dict[tuple[str, str], Patch] = {}
    problems: list[tuple[str, Exception]] = []
    for where, value in values:
        try:
            if isinstance(value, Exception):
                raise value
            refuse_unknown_task(value, ids)
            patch = as_struct(value, Patch)
            _refuse(patch, patches)
            patches[patch.model, patch.id] = patch
        except (untrusted.UnsafeError, MismatchError) as error:
            problems.append((where, error))
    return ReadPatches(tuple(patches.values()), problem_lines(problems, bool(patches)))


def patched_text(patch: Patch, text: str) -> str:
    """The program with the patch; raises PatchError where it does not apply, has a null, or is much
    longer than a program of the catalogue.
    """
    new_text = patch.script if patch.patch is None else _apply(patch.patch, text)
    assert new_text is not None
    if "\0" in new_text:
        raise PatchError("the script has a null character; expected the text of a program")
    lines = new_text.count("\n")
    if lines > MAX_LINES:
        raise PatchError(f"the script has {lines} lines, expected at most {MAX_LINES}")
    return new_text


def _apply(diff: str, text: str) -> str:
    changes = whatthepatch.patch.parse_unified_diff(_hunks(diff))
    if _file_count(diff) > 1 or not changes:
        raise PatchError(f"the patch is no diff of one file, expected one of {SCRIPT}")
    try:
        lines = whatthepatch.apply_diff(whatthepatch.patch.diffobj(None, changes, diff), text)
    except (ValueError, IndexError) as error:
        raise PatchError(f"the patch does not apply: {error}") from error
    return "\n".join(lines) + "\n"


def _hunks(diff: str) -> list[str]:
    """The lines of a diff that say what changes.

    whatthepatch gets no others: by them it takes a diff for one of another format, and some formats
    take it hours, or end in any exception.
    """
    return [line for line in diff.splitlines() if line[:1] in CHANGE or HUNK.match(line)]


def _file_count(diff: str) -> int:
    """How many files a diff is of, by its headers."""
    lines = diff.splitlines()
    return max(
        sum(line.startswith("+++ ") for line in lines),
        sum(line.startswith("diff ") for line in lines),
    )


def _refuse(patch: Patch, known: Mapping[tuple[str, str], Patch]) -> None:
    """Raise MismatchError for a repeated task, or not one of script and patch."""
    if (patch.model, patch.id) in known:
        raise MismatchError(
            f"there was a patch of {untrusted.brief(patch.model)} for {patch.id} before; expected "
            "one of each model a task"
        )
    if (patch.script is None) == (patch.patch is None):
        raise MismatchError("expected either script, the whole text, or patch, a unified diff")


def _from_file(path: Path) -> Iterator[tuple[str, object]]:
    name = untrusted.shown(path)
    try:
        lines = untrusted.read_bytes(path, MAX_BYTES).splitlines()
    except untrusted.UnsafeError as error:
        raise ResultsError(f"{name}: {error}") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield f"{name}, line {number}", _parsed(line)


def _parsed(line: bytes) -> object:
    """The value of a line, or the error that it is."""
    try:
        return untrusted.parse_json(line)
    except untrusted.UnsafeError as error:
        return error


def _from_folder(folder: Path) -> Iterator[tuple[str, object]]:
    paths = sorted([*folder.glob("*.py"), *folder.glob("*.diff")])
    if len(paths) > MAX_FILES:
        raise ResultsError(f"{untrusted.shown(folder)} has more than {MAX_FILES} files")
    for path in paths:
        key = "script" if path.suffix == ".py" else "patch"
        try:
            value: object = {
                "id": path.stem,
                key: untrusted.read_text(path, MAX_PATCH_BYTES, folder),
            }
        except untrusted.UnsafeError as error:
            value = error
        yield untrusted.shown(path), value
