"""Tasks for people and models outside, and apart a key that tells what they are."""

import json
import random
import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from runner.errors import ResultsError, UsageError
from runner.files import untrusted
from runner.files.atomic import replacing, write_text
from runner.files.structs import MismatchError, as_struct

TASKS, KEY = "tasks.jsonl", "key.json"
# How `untrusted.parse_json` begins what it says of other text.
NOT_JSON = "not JSON"
MAX_KEY_BYTES = 20_000_000
T = TypeVar("T")
K = TypeVar("K", bound=Struct)


def named_at_random(items: Sequence[T]) -> dict[str, T]:
    """The items in an order that tells nothing, under names that tell nothing."""
    shuffled = list(items)
    random.SystemRandom().shuffle(shuffled)
    return {secrets.token_hex(8): item for item in shuffled}


def refuse_known_key(folder: Path) -> None:
    """Raise UsageError for a folder that holds a key: without it no answer to its tasks counts."""
    path = folder / KEY
    if path.exists():
        raise UsageError(
            f"{untrusted.shown(path)} is there, and answers to its tasks need it; export to "
            "another folder, or remove this one"
        )


def write_export(folder: Path, tasks: Iterable[Struct], key: Struct) -> None:
    """Write the tasks, a line each, and the key, for its owner alone; raises OSError."""
    lines = [json.dumps(msgspec.to_builtins(task)) for task in tasks]
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / TASKS, "".join(f"{line}\n" for line in lines))
    with replacing(folder / KEY) as temporary:
        temporary.touch(0o600)  # nobody else reads it at any moment
        temporary.write_text(
            f"{json.dumps(msgspec.to_builtins(key), indent=1)}\n", encoding="utf-8"
        )


def read_key(path: Path, kind: type[K], command: str) -> K:
    """The key that a command wrote; raises ResultsError for a file that is none."""
    try:
        return as_struct(untrusted.read_json(path, MAX_KEY_BYTES), kind)
    except (untrusted.UnsafeError, MismatchError) as error:
        raise ResultsError(f"{untrusted.shown(path)}: not a key of `{command}`: {error}") from error


class UnknownTaskError(MismatchError):
    """What somebody wrote is for no task of the key."""

    def __init__(self, name: str):
        super().__init__(f"id {name}: there is no such task; expected one of the key")


def refuse_unknown_task(value: object, ids: Collection[str]) -> None:
    """Raise UnknownTaskError for an object whose `id` is a text, and no task of the key."""
    name = value.get("id") if isinstance(value, dict) else None
    if isinstance(name, str) and name not in ids:
        raise UnknownTaskError(untrusted.brief(name))


def problem_lines(problems: Sequence[tuple[str, Exception]], some_count: bool) -> tuple[str, ...]:
    """A line for each problem with its place; one line where nothing counts for the same reason."""
    lines = tuple(f"{where}: {error}" for where, error in problems)
    if some_count or len(lines) < 2:
        return lines
    if all(isinstance(error, UnknownTaskError) for _, error in problems):
        return (
            f"{problems[0][0]}: none of {len(lines)} is for a task of this key; name the key.json "
            "of the export that wrote their tasks",
        )
    if all(str(error).startswith(NOT_JSON) for _, error in problems):
        return (f"{lines[0]}; all {len(lines)} lines are {NOT_JSON}",)
    if len({str(error) for _, error in problems}) == 1:
        return (f"{lines[0]}; all {len(lines)} have this error",)
    return lines


def imported_packages(texts: Iterable[str], pins: Mapping[str, str]) -> dict[str, str]:
    """The pinned packages whose names stand in the texts, as import statements have them; torch is
    always one.
    """
    words = " ".join(texts)
    return {
        name: version
        for name, version in sorted(pins.items())
        if name == "torch" or name.lower().replace("-", "_") in words
    }
