"""Where is what is not finished, and who is at it? Folders and locks that end with the process that holds them.

Nothing here outlives its owner for long: the kernel drops the locks of a process that was killed, and the next one to
work in the same results folder removes what it has left behind.
"""

import errno
import fcntl
import hashlib
import os
import shutil
import struct
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX, LOCK = ".unfinished-", ".lock"
CLAIMS = ".claims"


class Scratch:
    """A folder of this object alone inside of a results folder; it is removed with the object. Raises OSError."""

    def __init__(self, root: Path) -> None:
        root.mkdir(parents=True, exist_ok=True)
        sweep(root)
        self.path, lock = _make(root)
        self._claims = os.open(root / CLAIMS, os.O_RDWR | os.O_CREAT, 0o666)
        weakref.finalize(self, _remove, self.path, lock, self._claims)

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Whether nobody else is at what has that key; they know that we are until the end of this context.

        A lock on one byte of a file, at an offset that the key gives: nothing is left behind, also over NFS.
        """
        offset = int.from_bytes(hashlib.sha256(key.encode()).digest()[:7])
        if not self._lock(fcntl.F_WRLCK, offset):
            yield False
            return
        try:
            yield True
        finally:
            self._lock(fcntl.F_UNLCK, offset)

    def _lock(self, kind: int, offset: int) -> bool:
        """A lock of the open file, not of the process: threads with a scratch of their own see each other's."""
        flock = struct.pack("hhqqi4x", kind, os.SEEK_SET, offset, 1, 0)
        try:
            fcntl.fcntl(self._claims, fcntl.F_OFD_SETLK, flock)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                return False
            raise
        return True


def sweep(root: Path) -> None:
    """Remove scratch folders whose owners have gone."""
    for lock in root.glob(f"{PREFIX}*{LOCK}"):
        try:
            file = os.open(lock, os.O_RDWR)
        except OSError:  # its owner has just removed it
            continue
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
        else:
            _remove(lock.with_suffix(""), file)


def _make(root: Path) -> tuple[Path, int]:
    """A new folder, and its lock, held. The lock is there before the folder: no folder is without an owner."""
    while True:
        file, name = tempfile.mkstemp(prefix=PREFIX, suffix=LOCK, dir=root)
        fcntl.flock(file, fcntl.LOCK_EX)
        # Somebody may have swept it between the two lines above.
        if os.fstat(file).st_nlink:
            path = Path(name).with_suffix("")
            path.mkdir()
            return path, file
        os.close(file)


def remove(folder: Path) -> None:
    """Remove a folder and what is in it, as far as that can be done."""
    with suppress(RecursionError):  # a tree of a thousand levels stays: no reason to stop others
        shutil.rmtree(folder, ignore_errors=True)


def _remove(path: Path, lock: int, *others: int) -> None:
    remove(path)
    # The folder may have become read-only by now; what stays is swept later.
    with suppress(OSError):
        path.with_name(path.name + LOCK).unlink(missing_ok=True)
    for file in (lock, *others):
        os.close(file)
