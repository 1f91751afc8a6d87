"""Temporary folders and inter-process locks, for work in a results folder that is not finished.

Neither outlives its owner for long: the kernel drops the locks of a process that was killed, and
the next process that works in the same results folder removes the temporary folder that was left
behind.
"""

import errno
import fcntl
import hashlib
import os
import re
import struct
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from runner.files.trees import is_own, remove_own_tree, remove_tree

PREFIX, LOCK = ".unfinished-", ".lock"
# How the temporary folders begin in which programs work.
WORK = ".trainbugs-"
CLAIMS = ".claims"
# A file of that name in a temporary folder notes that a folder of that name beside it goes with it.
NOTE = re.compile(r"tb-[0-9a-f]{8}")


class TemporaryFolder:
    """A folder inside `root`, for this object alone and removed with it. Raises OSError."""

    def __init__(self, root: Path, prefix: str) -> None:
        root.mkdir(parents=True, exist_ok=True)
        sweep(root, prefix)
        self.path, lock = _make(root, prefix)
        self._finalizer = weakref.finalize(self, _remove, self.path, lock)

    def remove(self) -> None:
        """Remove the folder now."""
        self._finalizer()


@contextmanager
def working_folder() -> Iterator[Path]:
    """A folder among temporary files, removed at the end; the next command does it where this one
    is killed.

    Raises OSError.
    """
    folder = TemporaryFolder(Path(tempfile.gettempdir()), WORK)
    try:
        yield folder.path
    finally:
        folder.remove()


class Scratch(TemporaryFolder):
    """A temporary folder inside a results folder, and the locks of that folder. Raises OSError."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, PREFIX)
        # A link is not followed: a stranger's folder may lead to any file of the user.
        self._claims = os.open(root / CLAIMS, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        weakref.finalize(self, os.close, self._claims)

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Take the lock of a key until the end of the context; False where another holder has it.

        The lock is on one byte of a file, at an offset derived from the key: it leaves nothing
        behind and works on NFS.
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
        """Set or clear a lock; False where it is taken.

        It belongs to the open file, not to the process, so that threads with a Scratch each exclude
        one another too.
        """
        flock = struct.pack("hhqqi4x", kind, os.SEEK_SET, offset, 1, 0)
        try:
            fcntl.fcntl(self._claims, fcntl.F_OFD_SETLK, flock)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                return False
            raise
        return True


def sweep(root: Path, prefix: str = PREFIX) -> None:
    """Remove the temporary folders in `root` whose owners have ended.

    Those of other users stay: who may change a folder while it is removed could put a link to
    files of this user in there.
    """
    for lock in root.glob(f"{prefix}*{LOCK}"):
        try:
            file = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:  # its owner has just removed it
            continue
        if not is_own(lock):
            os.close(file)
            continue
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
        else:
            path = lock.with_suffix("")
            # Among temporary files anybody can make a folder of that name once this user's is gone.
            end = _remove if is_own(path) else _unlock
            end(path, file)


def _make(root: Path, prefix: str) -> tuple[Path, int]:
    """A new folder, and its lock, held.

    The lock is made before the folder, so that no folder is without an owner.
    """
    while True:
        file, name = tempfile.mkstemp(prefix=prefix, suffix=LOCK, dir=root)
        fcntl.flock(file, fcntl.LOCK_EX)
        # Another process may have swept the lock between the two lines above.
        if os.fstat(file).st_nlink:
            path = Path(name).with_suffix("")
            path.mkdir(0o700)
            return path, file
        os.close(file)


def _remove(path: Path, lock: int) -> None:
    for note in path.glob("*"):
        if NOTE.fullmatch(note.name):
            remove_own_tree(path.with_name(note.name))
    remove_tree(path)
    _unlock(path, lock)


def _unlock(path: Path, lock: int) -> None:
    # The results folder may have become read-only; the lock that stays is swept later.
    with suppress(OSError):
        path.with_name(path.name + LOCK).unlink(missing_ok=True)
    os.close(lock)
