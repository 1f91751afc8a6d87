"""Whole folders that may come from anyone: their links are looked at, and they are copied without
following any.
"""

import os
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from runner.errors import ResultsError
from runner.files.untrusted import UnsafeError, shown

MAX_FILES = 100_000
# A limit on one file: more than the weights of any detector.
MAX_FILE_BYTES = 4_000_000_000
COPIED_BITS = 0o777


def check_links(folder: Path) -> None:
    """Raise UnsafeError for the first link below a folder that leads out of it, or would not do so
    in a copy.
    """
    real = Path(os.path.realpath(folder))
    for number, path in enumerate(_paths(real), 1):
        if number > MAX_FILES:
            raise UnsafeError(f"holds more than {MAX_FILES} files")
        if path.is_symlink():
            _check_link(path, real)


def files_in(folder: Path) -> list[Path]:
    """The plain files below a folder, sorted; links to files within it, too.

    Raises UnsafeError for other links.
    """
    check_links(folder)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def copy_folder(folder: Path, target: Path, is_left_out: Callable[[str], bool]) -> None:
    """Copy a folder: plain files, folders, and links that lead to within it, which stay links.

    A name for which `is_left_out` says so is not copied. Whatever takes the place of a file or of a
    folder meanwhile, no link is followed. Raises UnsafeError for a link that leads out, OSError for
    the copy.
    """
    real = Path(os.path.realpath(folder))
    for below, folders, files, number in os.fwalk(real, follow_symlinks=False):
        folders[:] = [name for name in folders if not is_left_out(name)]
        place = target / Path(below).relative_to(real)
        place.mkdir(parents=True, exist_ok=True)
        for name in (*folders, *files):
            if not is_left_out(name):
                _copy_entry(Path(below, name), real, number, place / name)


def _copy_entry(path: Path, within: Path, number: int, target: Path) -> None:
    """Copy a file or a link of the open folder `number`; folders come by themselves, and all else
    is left out.
    """
    status = os.stat(path.name, dir_fd=number, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        _check_link(path, within)
        target.symlink_to(os.readlink(path.name, dir_fd=number))
    elif stat.S_ISREG(status.st_mode):
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with (
            os.fdopen(os.open(path.name, flags, dir_fd=number), "rb") as file,
            target.open("xb") as copy,
        ):
            shutil.copyfileobj(file, copy)
        target.chmod(status.st_mode & COPIED_BITS)


def _check_link(path: Path, within: Path) -> None:
    name, leads_to = shown(path.relative_to(within)), path.readlink()
    if not Path(os.path.realpath(path)).is_relative_to(within):
        raise UnsafeError(f"{name} is a link that leads out of its directory, to {shown(leads_to)}")
    if leads_to.is_absolute():
        raise UnsafeError(
            f"{name} is an absolute link, to {shown(leads_to)}; expected one relative to its folder"
        )


def _paths(folder: Path) -> Iterator[Path]:
    """All that is below a folder; links are not followed."""
    for below, folders, files in os.walk(folder, followlinks=False):
        for name in (*folders, *files):
            yield Path(below, name)


def inside(path: Path, root: Path) -> Path:
    """A path below a folder, to write to.

    Raises ResultsError where a link leads out of the folder: a stranger's may lead to the user's.
    """
    if not path.parent.resolve().is_relative_to(root.resolve()):
        raise ResultsError(f"{shown(path.parent)}: a link leads out of {shown(root)}; remove it")
    return path
