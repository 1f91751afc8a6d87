"""Removal of folders, whatever their modes and depth: a program may have made them so on
purpose.
"""

import itertools
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

# Opens a folder itself, whatever its mode, and no link that was put into its place.
OPEN_FLAGS = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(folder: Path) -> None:
    """Remove a folder and all that it holds, as far as that is possible; a link, and where one
    leads, stays.

    A folder without permissions gets them first. A tree may be deeper than the stack, and its paths
    longer than the system takes.
    """
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if _is_folder(folder):
        _open_up(folder)
        with suppress(OSError):
            _flatten(folder)
            folder.rmdir()


def remove_own_tree(folder: Path) -> None:
    """Remove a folder like `remove_tree`, but for one that belongs to another user."""
    if is_own(folder):
        remove_tree(folder)


def is_own(path: Path) -> bool:
    """Whether there is something at a path, and it belongs to this user, or to who owns the folder
    around it: on some file systems all belongs to one user, whoever made it.
    """
    try:
        return path.lstat().st_uid in (os.geteuid(), path.parent.stat().st_uid)
    except OSError:
        return False


def _flatten(folder: Path) -> None:
    """Empty a folder: folders two levels below it move up by one level, until none is left.

    Raises OSError.
    """
    names = _new_names(folder)
    while True:
        paths = list(folder.iterdir())
        if not paths:
            return
        for path in paths:
            if not _is_folder(path):
                path.unlink()
                continue
            _open_up(path)
            for child in list(path.iterdir()):
                if not _is_folder(child):
                    child.unlink()
                    continue
                # The system lets nobody move a folder that they may not write.
                _open_up(child)
                child.rename(next(names))
            path.rmdir()


def _new_names(folder: Path) -> Iterator[Path]:
    """Paths in a folder at which nothing is."""
    candidates = (folder / f"moved-{number}" for number in itertools.count())
    return (path for path in candidates if not os.path.lexists(path))


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _open_up(folder: Path) -> None:
    """Let the owner of a folder do everything there, where that is possible."""
    with suppress(OSError):
        descriptor = os.open(folder, OPEN_FLAGS)
        try:
            os.chmod(f"/proc/self/fd/{descriptor}", 0o700)  # noqa: PTH101
        finally:
            os.close(descriptor)
