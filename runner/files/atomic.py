"""Atomic writes: a reader sees the old file or the whole new one."""

import errno
import json
import math
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from runner.errors import ResultsError
from runner.files.locks import PREFIX, TemporaryFolder


def write_json(path: Path, data: Any, scratch: Path | None = None) -> None:
    """Write JSON as `write_text` does."""
    write_text(path, json.dumps(data, indent=1, allow_nan=False) + "\n", scratch)


def write_text(path: Path, text: str, scratch: Path | None = None) -> None:
    """Write a text as `write_bytes` does."""
    write_bytes(path, text.encode(), scratch)


def write_bytes(path: Path, content: bytes, scratch: Path | None = None) -> None:
    """Write a file so that a reader sees the old one or the whole new one; raises ResultsError.

    A link in its place is replaced, and not followed; a device stays. The content is written to a
    temporary file in `scratch`, a folder on the same disk (default: one that `replacing` makes),
    and the file is then renamed.
    """
    try:
        if scratch is None:
            with replacing(path) as temporary:
                temporary.write_bytes(content)
            return
        _refuse_device(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = scratch / f".{path.name}.{os.getpid()}-{threading.get_ident()}"
        try:
            temporary.write_bytes(content)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(path, error) from error


def make_folder(folder: Path) -> None:
    """Make a folder for results before the first run: one that cannot be made is no surprise at
    the end. Raises ResultsError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFolder(folder, PREFIX).remove()
    except OSError as error:
        raise unwritable(folder, error) from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A context with a file of that name to be written, which takes the place of `path` at its end;
    raises OSError.

    It is in a temporary folder beside `path`; that of a command that was killed goes when the next
    file is written.
    """
    _refuse_device(path)
    folder = TemporaryFolder(path.parent, PREFIX)
    try:
        temporary = folder.path / path.name
        yield temporary
        temporary.replace(path)
    finally:
        folder.remove()


def is_special(path: Path) -> bool:
    """Whether a path, or what a link there leads to, is a device, a pipe or a socket."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _refuse_device(path: Path) -> None:
    """Raise OSError for a device: root would put a file in the place of /dev/null. A pipe in the
    place of a record is none, and is replaced.
    """
    if path.is_block_device() or path.is_char_device():
        raise OSError(0, "it is no plain file")


def finite(value: Any) -> Any:
    """The value for JSON, which has no NaN and no infinity: these become texts."""
    if isinstance(value, Mapping):
        return {key: finite(element) for key, element in value.items()}
    if isinstance(value, list | tuple):
        return [finite(element) for element in value]
    if not isinstance(value, float) or math.isfinite(value):
        return value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def unwritable(path: Path, error: OSError) -> ResultsError:
    """The error for a user whose results cannot be written to `path`."""
    cure = "name another folder, by --out or --results"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        cure = "make room, and type the command again: it goes on from there"
    return ResultsError(f"{path}: cannot be written: {error.strerror}; {cure}")
