"""Safe reading of untrusted files: plain files of a bounded size, and JSON that can be processed
without harm.

No name, size or number is trusted: reading a pipe may block for ever, a device has no end, and a
deeply nested list exhausts the stack of a recursive function.
"""

import json
import os
import re
import shutil
import stat
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from runner.errors import TrainbugsError

MAX_TEXT_BYTES = 1_000_000
PIECE_BYTES = 1_000_000
MAX_SCRIPTS = 100
MAX_EXPECTED = 10_000
# Deeper than any record or configuration. There is a limit because copying, comparing and writing a
# value recurse.
MAX_DEPTH = 50
# Far above what any file of the project holds. Checking and drawing much larger ones would take
# long.
MAX_VALUES, MAX_ITEMS, MAX_TEXT = 10_000, 1_000, 1_000
# Characters that move a terminal's cursor, end a line, reverse the direction of reading, or are not
# seen at all.
UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
# A lone surrogate: half a character, which UTF-8 cannot encode.
SURROGATE, ESCAPED = re.compile("[\ud800-\udfff]"), b"\\u"
TO_ESCAPE = re.compile(f"{UNPRINTABLE.pattern}|{SURROGATE.pattern}")
FOLDERS = re.compile(r"(?<![\w.])(/[^\s/'\"]+)+/")
# Any number above the largest float has so many digits, or such an exponent.
LARGE = re.compile(rb"\d{200}|[eE][+-]?\d{3}")


class UnsafeError(TrainbugsError):
    """A file is not safe to read. The message says why; the caller adds which file it is."""


def shown(path: Path) -> str:
    """The path in a form that can be printed on one line of a terminal."""
    text = str(path)
    return text if text.isprintable() else repr(text)


def printable(text: str) -> str:
    """The text as one line that can be printed: what would move a cursor, or end the line, is shown
    escaped.
    """
    return TO_ESCAPE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def printable_lines(text: str) -> str:
    """Like `printable`, for a text of many lines, in which tabs may be."""
    return re.sub(r"[^\n\t]+", lambda match: printable(match[0]), text)


def without_folders(text: str) -> str:
    """The text with each absolute path cut to its last part, for what is published: it says nothing
    of a machine.
    """
    return FOLDERS.sub("", text)


def read_start(path: Path, size: int, within: Path | None = None) -> bytes:
    """The first `size` bytes of a plain file; all of them where it is shorter.

    Raises UnsafeError where there is no plain file, or a link leads out of the folder `within`.
    """
    try:
        with open_plain(path, within) as file:
            # Not at once: memory would be taken for all that is asked for, not for what is there.
            return b"".join(_pieces(file, size))
    except OSError as error:
        raise UnsafeError(f"cannot be read: {error.strerror}") from error


def _pieces(file: BinaryIO, size: int) -> Iterator[bytes]:
    while size:
        piece = file.read(min(size, PIECE_BYTES))
        if not piece:
            return
        yield piece
        size -= len(piece)


def read_bytes(path: Path, limit: int, within: Path | None = None) -> bytes:
    """The bytes of a plain file.

    Raises UnsafeError where there are more than `limit`, or a link leads out of the folder
    `within`.
    """
    data = read_start(path, limit + 1, within)
    if len(data) > limit:
        raise UnsafeError(f"is larger than {limit} bytes")
    return data


def read_text(path: Path, limit: int, within: Path | None = None) -> str:
    """Like read_bytes, decoded as UTF-8; raises UnsafeError."""
    try:
        return read_bytes(path, limit, within).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnsafeError(
            f"cannot be read as UTF-8 text: {error.reason} at byte {error.start}"
        ) from error


def read_json(path: Path, limit: int, within: Path | None = None, constants: bool = False) -> Any:
    """The JSON in a file of at most `limit` bytes, as `parse_json` allows it; raises
    UnsafeError.
    """
    return parse_json(read_bytes(path, limit, within), constants)


def parse_json(data: bytes, constants: bool = False) -> Any:
    """The value of a text of JSON; raises UnsafeError.

    Refused are numbers that are too large, duplicate keys, lone surrogates, and values nested
    deeper than MAX_DEPTH; also NaN, Infinity and -Infinity, which Python's json writes, unless
    `constants` are allowed.
    """
    # Checking each number takes long, and few files hold one that could be too large.
    large: dict[str, Any] = {"parse_float": _float, "parse_int": _int} if LARGE.search(data) else {}
    try:
        value = json.loads(
            data.decode("utf-8"),
            parse_constant=float if constants else _constant,
            object_pairs_hook=_unique,
            **large,
        )
    except UnicodeDecodeError as error:
        raise UnsafeError(
            f"not JSON: {error.reason} at byte {error.start}, expected UTF-8"
        ) from error
    except json.JSONDecodeError as error:
        raise UnsafeError(
            f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
        ) from error
    except RecursionError as error:
        raise UnsafeError(_too_deep()) from error
    escaped = ESCAPED in data
    # A walk through all values takes longer than reading them, and few texts could need it.
    if escaped or data.count(b"[") + data.count(b"{") > MAX_DEPTH:
        for part in parts(value):
            if escaped and isinstance(part, str) and SURROGATE.search(part):
                raise UnsafeError(
                    f"not JSON: {brief(part)} holds half a character (a lone surrogate)"
                )
    return value


def parts(value: Any) -> Iterator[Any]:
    """A JSON value and everything in it, keys too; raises UnsafeError for values nested deeper than
    MAX_DEPTH.
    """
    level = [value]
    for _ in range(MAX_DEPTH):
        yield from level
        inner: list[Any] = []
        for part in level:
            if isinstance(part, dict):
                inner += part
                inner += part.values()
            elif isinstance(part, list):
                inner += part
        level = inner
    if level:
        raise UnsafeError(_too_deep())


def check_short(value: Any) -> None:
    """Raise UnsafeError for JSON that is much longer than a file written by hand, or cannot be
    printed.
    """
    for number, part in enumerate(parts(value), 1):
        if number > MAX_VALUES:
            raise UnsafeError(f"holds more than {MAX_VALUES} values")
        if isinstance(part, list) and len(part) > MAX_ITEMS:
            raise UnsafeError(f"holds a list of {len(part)} values, expected at most {MAX_ITEMS}")
        if isinstance(part, str) and (len(part) > MAX_TEXT or UNPRINTABLE.search(part)):
            raise UnsafeError(f"{brief(part)} is no text of one line and {MAX_TEXT} characters")


def brief(value: object) -> str:
    """A value for a message: its repr, cut after 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"


def copy(path: Path, target: Path, limit: int, within: Path) -> None:
    """Copy a plain file of at most `limit` bytes; raises UnsafeError as read_bytes does, OSError
    for the copy.
    """
    try:
        file = open_plain(path, within)
    except OSError as error:
        raise UnsafeError(f"cannot be read: {error.strerror}") from error
    with file:
        if os.fstat(file.fileno()).st_size > limit:
            raise UnsafeError(f"is larger than {limit} bytes")
        with target.open("wb") as other:
            shutil.copyfileobj(file, other)


def check_directory(directory: Path) -> None:
    """Raise UnsafeError for the first unsafe file of a bug directory, among the files that are ever
    read.
    """
    names = sorted(path.name for path in directory.iterdir())
    scripts = [name for name in names if name.endswith(".py")]
    if len(scripts) > MAX_SCRIPTS:
        raise UnsafeError(f"holds {len(scripts)} scripts, expected at most {MAX_SCRIPTS}")
    for name in (*scripts, *(["README.md"] if "README.md" in names else [])):
        path = directory / name
        _check(path, directory)
        if path.stat().st_size > MAX_TEXT_BYTES:
            raise UnsafeError(f"{name} is larger than {MAX_TEXT_BYTES} bytes")
    for folder in ("expected", "studies"):
        for path in _below(directory / folder):
            _check(path, directory)


def _below(folder: Path) -> Iterator[Path]:
    """The entries below a folder that may harm a reader: unprintable names, links, and neither
    files nor folders.
    """
    if not _is_there(folder):
        return
    if folder.is_symlink() or not folder.is_dir():
        yield folder
        return
    folders, count = [os.fspath(folder)], 0
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                count += 1
                if count > MAX_EXPECTED:
                    raise UnsafeError(f"{folder.name} holds more than {MAX_EXPECTED} files")
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif not (entry.is_file(follow_symlinks=False) and entry.name.isprintable()):
                    yield Path(entry.path)


def _is_there(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _check(path: Path, within: Path) -> None:
    name = shown(path.relative_to(within))
    if not path.name.isprintable():
        raise UnsafeError(f"{name} has a name that cannot be printed")
    try:
        _check_file(path, within)
    except OSError as error:
        raise UnsafeError(f"{name} cannot be read: {error.strerror}") from error
    except UnsafeError as error:
        raise UnsafeError(f"{name} {error}") from error


def open_plain(path: Path, within: Path | None = None) -> BinaryIO:
    """Open a plain file inside `within`; raises UnsafeError for anything else, OSError where it
    cannot be opened.
    """
    _check_file(path, within)
    # It may have become a pipe since: that is opened without waiting for a writer, and then
    # refused.
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise UnsafeError("is no plain file")
    return file


def _check_file(path: Path, within: Path | None) -> None:
    """Raise UnsafeError unless this is a plain file inside `within`.

    Called before opening, which may block.
    """
    # A file of the folder itself that is no link cannot be elsewhere; asking for its real path
    # would take longer.
    if within is not None and (path.parent != within or path.is_symlink()):
        real = os.path.realpath(path)
        if not Path(real).is_relative_to(os.path.realpath(within)):
            raise UnsafeError(f"is a link that leads out of its directory, to {shown(Path(real))}")
    if not stat.S_ISREG(path.stat().st_mode):
        raise UnsafeError("is no plain file")


def _constant(name: str) -> None:
    raise UnsafeError(f"not JSON: {name} is no number")


def _float(text: str) -> float:
    number = float(text)
    if abs(number) > sys.float_info.max:
        raise UnsafeError(f"not JSON: {brief(text)} is too large a number")
    return number


def _int(text: str) -> int:
    # At most as many digits as the largest float. Python itself refuses to read or write thousands
    # of digits.
    if len(text) > sys.float_info.max_10_exp:
        raise UnsafeError(f"not JSON: {brief(text)} is too large a number")
    return int(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        duplicate = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise UnsafeError(f"not JSON: the key {brief(duplicate)} is there twice")
    return mapping


def _too_deep() -> str:
    return f"not JSON: nested more than {MAX_DEPTH} deep"
