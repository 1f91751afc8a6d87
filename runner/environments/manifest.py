"""The manifest of a build: all that lies in it, with sizes, times and hashes, and what has changed
since.

A line is a JSON list: the path within the build, its stamp, and the SHA-256 of a file's contents.
The stamp is what looking at the folder shows: a file's size and time of change, the target of a
link, or what else there is.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

import msgspec

from runner.files import untrusted

MANIFEST = "manifest.jsonl"
# The largest manifest: fifteen times as large as for an environment of PyTorch.
MAX_BYTES = 64_000_000
# Files that a thread hashes at a time.
SHARE = 100
FOLDER = "a folder"
Line = tuple[str, str, str]


def write(directory: Path, hashes: Mapping[str, str]) -> None:
    """Write the manifest of what lies in `directory` now; files that `hashes` lacks are hashed
    here.
    """
    hashes = {**hashes, **file_hashes(directory, leave_out=hashes)}
    lines = sorted((path, stamp, hashes.get(path, "")) for path, stamp in _stamps(directory))
    (directory / MANIFEST).write_bytes(msgspec.json.Encoder().encode_lines(lines))


def changes(directory: Path) -> list[str]:
    """How a build differs from its manifest as far as names, sizes, times and links tell; its files
    are not read.

    So a file that was edited, has the same size, and got its old time back is not found: `contents`
    finds it. (The time of the last change of the inode would tell, but a hard link that uv makes to
    the same file changes that, too.)
    """
    try:
        expected = {path: stamp for path, stamp, _ in _read(directory)}
        present = dict(_stamps(directory))
    except (untrusted.UnsafeError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        return [f"its {MANIFEST} cannot be read: {error}"]
    except OSError as error:
        return [f"{error.filename} cannot be read: {error.strerror}"]
    added = [f"{_shown(path)} was added" for path in sorted(present.keys() - expected.keys())]
    missing = [f"{_shown(path)} is missing" for path in sorted(expected.keys() - present.keys())]
    changed: list[str] = []
    for path, was in expected.items():
        now = present.get(path, was)
        if was != now and not _same(was, now):
            changed.append(_change(path, was, now))
    return added + changed + missing


def contents(directory: Path, hashes: Mapping[str, str]) -> list[str]:
    """The files whose contents differ from the manifest, in words; `hashes` are those of
    `file_hashes`, now.

    Raises UnsafeError or msgspec.MsgspecError where there is no manifest that can be read.
    """
    problems: list[str] = []
    for path, _, digest in _read(directory):
        if digest and hashes.get(path, digest) != digest:
            problems.append(f"{_shown(path)} has other contents")
    return problems


def file_hashes(directory: Path, leave_out: Mapping[str, str] | None = None) -> dict[str, str]:
    """The SHA-256, as hexadecimal digits, of every file below `directory` that is not among
    `leave_out`, by path.

    Paths are relative, links are not followed. Raises OSError.
    """
    leave_out = leave_out or {}
    files = [path for path, stamp in _stamps(directory) if _is_file(stamp)]
    paths = [path for path in files if path not in leave_out]
    shares = [paths[start : start + SHARE] for start in range(0, len(paths), SHARE)]

    def hash_share(share: Sequence[str]) -> list[str]:
        return [_hash(directory / path) for path in share]

    with ThreadPoolExecutor() as pool:
        digests = chain.from_iterable(pool.map(hash_share, shares))
        return dict(zip(paths, digests, strict=True))


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(directory: Path) -> list[Line]:
    data = untrusted.read_bytes(directory / MANIFEST, MAX_BYTES, directory)
    return msgspec.json.Decoder(Line).decode_lines(data)


def _stamps(directory: Path) -> Iterator[tuple[str, str]]:
    """Everything below `directory` but the manifest: relative path and stamp.

    That of a file begins with a digit.
    """
    folders = [""]
    while folders:
        folder = folders.pop()
        # Looking up names in an open folder takes two thirds of the time of looking up whole paths.
        handle = os.open(f"{directory}/{folder}", os.O_RDONLY | os.O_DIRECTORY)
        try:
            with os.scandir(handle) as entries:
                stamps = [(folder + entry.name, _stamp(entry, handle)) for entry in entries]
        finally:
            os.close(handle)
        folders += [f"{path}/" for path, stamp in stamps if stamp == FOLDER]
        yield from (line for line in stamps if line[0] != MANIFEST)


def _stamp(entry: "os.DirEntry[str]", folder: int) -> str:
    if entry.is_file(follow_symlinks=False):
        status = entry.stat(follow_symlinks=False)
        return f"{status.st_size} {status.st_mtime_ns}"
    if entry.is_symlink():
        target = os.readlink(entry.name, dir_fd=folder)  # noqa: PTH115 - a Path has no open folder
        return f"a link to {target}"
    return FOLDER if entry.is_dir(follow_symlinks=False) else "a device, pipe or socket"


def _same(was: str, now: str) -> bool:
    """Whether two stamps differ only by parts of a second that were lost: images of containers keep
    whole seconds.
    """
    return _is_file(now) and now.endswith("000000000") and was[:-9] == now[:-9]


def _is_file(stamp: str) -> bool:
    return stamp[:1].isdigit()


def _change(path: str, was: str, now: str) -> str:
    if _is_file(was) and _is_file(now):
        return f"{_shown(path)} was changed"
    kinds = ["a file" if _is_file(stamp) else _shown(stamp) for stamp in (now, was)]
    return f"{_shown(path)} is {kinds[0]}, expected {kinds[1]}"


def _shown(text: str) -> str:
    return text if text.isprintable() else repr(text)
