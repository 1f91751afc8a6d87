"""The streams of a program: files without a name, which it writes and for which it can put nothing
in their place.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO, NamedTuple

from runner.sandbox.limits import Limits

# A program could make them look much longer, without writing so much, before its limit is enforced.
MAX_BYTES = int(Limits.output_mb * 1e6)
BLOCK_BYTES = 1 << 20


class Streams(NamedTuple):
    """The two files, open for writing by a program and for reading here."""

    stdout: BinaryIO
    stderr: BinaryIO


@contextmanager
def open_streams(folder: Path) -> Iterator[Streams]:
    """Streams on the disk of `folder`, in which they have no name; they are gone afterwards.

    Raises OSError.
    """
    with (
        TemporaryFile(dir=folder, buffering=0) as out,
        TemporaryFile(dir=folder, buffering=0) as err,
    ):
        yield Streams(out, err)


def blocks(stream: BinaryIO) -> Iterator[bytes]:
    """What a program has written until now, at most MAX_BYTES of it."""
    with _opened_again(stream) as descriptor:
        size = min(os.fstat(descriptor).st_size, MAX_BYTES)
        for offset in range(0, size, BLOCK_BYTES):
            yield os.pread(descriptor, min(BLOCK_BYTES, size - offset), offset)


@contextmanager
def _opened_again(stream: BinaryIO) -> Iterator[int]:
    """The same file, opened for reading: the program shares the position and the flags of the
    stream itself.
    """
    descriptor = os.open(f"/proc/self/fd/{stream.fileno()}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def end_of(stream: BinaryIO, size: int) -> bytes:
    """The last `size` bytes of what a program has written; all of them where it is shorter."""
    with _opened_again(stream) as descriptor:
        start = max(0, os.fstat(descriptor).st_size - size)
        return os.pread(descriptor, size, start)


def count_lines(stream: BinaryIO) -> int:
    """The number of lines that a program has written until now."""
    return sum(block.count(b"\n") for block in blocks(stream))


def keep(stream: BinaryIO, path: Path, scratch: Path) -> None:
    """Write what a program has written to `path`, in the place of whatever is there; raises
    OSError.

    `scratch` is a folder on the same disk.
    """
    temporary = scratch / f".{path.name}.{os.getpid()}-{stream.fileno()}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.writelines(blocks(stream))
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
