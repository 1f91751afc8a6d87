"""The owners of a cache and of its environments: what another user may change is not run.

Whoever may write to a build may put a program into the place of its interpreter, and write its
manifest anew.
"""

import grp
import os
import pwd
import stat
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from runner.environments.manifest import MANIFEST
from runner.environments.spec import DESCRIPTION, Built, cache_root
from runner.errors import EnvironmentBuildError
from runner.files.untrusted import shown

ROOT = 0
# Groups below this number come with a system; `users`, the first group of everybody in some, has
# the number 100.
SYSTEM_GROUPS = 100
# The number of links that Linux follows.
MAX_LINKS = 40
# Folders below a build down to lib/python3.11/site-packages/torch; looking at all of them takes as
# long as a start.
PACKAGES_DEPTH, MAX_DEPTH = 4, 1_000
OPTION = "--trust-environments"


def problem(built: Built, whole: bool = False) -> str | None:
    """Why somebody else than the user and root may change a build, in words; None where nobody may.

    Its folders are looked at down to the packages; with `whole` all of them are.
    """
    try:
        words = next(
            _problems(built, _folders(built.directory, MAX_DEPTH if whole else PACKAGES_DEPTH)),
            None,
        )
    except OSError as error:
        words = f"{error.filename} cannot be read: {error.strerror}; {_remedy()}"
    return words and f"environment {built.environment.name}: {words}"


def needs_trust(built: Built, trust: bool) -> bool:
    """Whether somebody else than the user and root may change a build; raises EnvironmentBuildError
    without `trust`.

    Also raises it where its interpreter lies in a folder of somebody else that the user may not
    enter.
    """
    words = problem(built)
    if words and not trust:
        raise EnvironmentBuildError(words)
    real = Path(os.path.realpath(built.python))
    if not _may_execute(real):
        raise EnvironmentBuildError(
            f"environment {built.environment.name}: its interpreter {shown(real)} lies where you "
            "may not execute it; have it built with a Python that everybody may read, or build "
            "your own in a folder that TRAINBUGS_CACHE names"
        )
    return words is not None


def _may_execute(path: Path) -> bool:
    """False where permissions are lacking; an interpreter that is not there is told by another
    check.
    """
    try:
        path.stat()
    except PermissionError:
        return False
    except OSError:
        return True
    return os.access(path, os.X_OK)


def refuse_cache(folder: Path, trust: bool) -> None:
    """Raise EnvironmentBuildError where others may change what is built into a folder of the
    cache.
    """
    words = next(_cache_problems(folder), None)
    if words and not trust:
        raise EnvironmentBuildError(words)


def close_to_others(folder: Path) -> None:
    """Take from everybody but the owner the right to write to a folder, and to all that lies in it.

    What they may read is left as the user's umask has it.
    """
    for path in (folder, *_below(folder)):
        mode = path.lstat().st_mode
        if mode & 0o022 and not stat.S_ISLNK(mode):
            path.chmod(stat.S_IMODE(mode) & ~0o022)


def make_cache(folder: Path) -> None:
    """Make a folder in the cache, and the ones above it, to which their owner alone may write."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o022)


def _problems(built: Built, folders: Iterable[tuple[str, os.stat_result]]) -> Iterator[str]:
    """Why others may change a build, in words."""
    yield from _cache_problems(built.directory.parent)
    trusted = _trusted()
    for folder, status in folders:
        # Thousands of folders: only what may be a problem is looked at closely.
        if status.st_uid not in trusted or status.st_mode & 0o022:
            yield from _path_problems(Path(folder))
    for name in (DESCRIPTION, MANIFEST):
        yield from _path_problems(built.directory / name)
    yield from _interpreter_problems(built.python)


def _cache_problems(folder: Path) -> Iterator[str]:
    root = cache_root()
    for path in (folder, *folder.parents):
        if path.exists():
            inside = path.is_relative_to(root)
            yield from _path_problems(path) if inside else _parent_problems(path)


def _interpreter_problems(python: Path) -> Iterator[str]:
    """Problems of all links to an interpreter, of the program itself, and of its standard library.

    There are none where it is the one that runs this: whoever may change that one runs as the user
    already.
    """
    real = Path(os.path.realpath(python))
    if real == Path(os.path.realpath(sys.executable)):
        return
    path = python
    for _ in range(MAX_LINKS):
        for folder in path.parents:
            yield from _parent_problems(folder)
        if not path.is_symlink():
            break
        path = path.parent / path.readlink()
    library = real.parents[1] / "lib" / real.name
    for part in (real, real.parent, real.parents[1], library):
        yield from _path_problems(part)


def _path_problems(path: Path) -> Iterator[str]:
    status = _status(path)
    if status is None:
        return
    if status.st_uid not in _trusted():
        yield (
            f"{shown(path)} belongs to {_user(status.st_uid)}, expected {_expected()}: they may "
            f"change what you run; {_remedy()}"
        )
    yield from _writers(path, status)


def _parent_problems(path: Path) -> Iterator[str]:
    """The problem of a folder in which others may rename what lies in it; a sticky one, as /tmp,
    keeps them from it.
    """
    status = _status(path)
    if status is not None and not status.st_mode & stat.S_ISVTX:
        yield from _writers(path, status)


def _writers(path: Path, status: os.stat_result) -> Iterator[str]:
    writers = None
    if status.st_mode & stat.S_IWOTH:
        writers = "everybody"
    elif status.st_mode & stat.S_IWGRP and not _is_private(status.st_gid):
        writers = f"group {_group(status.st_gid)}"
    if writers:
        yield (
            f"{shown(path)} may be written to by {writers}, expected {_expected()}: they may "
            f"change what you run; `chmod go-w` it, or {_remedy()}"
        )


def _status(path: Path) -> os.stat_result | None:
    """The status of what a path leads to, None where nobody can run it: another check says so."""
    try:
        return path.stat()
    except OSError:
        return None


def _trusted() -> set[int]:
    # Where root is unknown to a container, its files belong to whoever owns the root folder.
    return {ROOT, os.geteuid(), Path("/").stat().st_uid}


@cache
def _is_private(gid: int) -> bool:
    """Whether a group holds nobody but trusted users: the one that a user has alone, or an empty
    one of the system.
    """
    try:
        group = grp.getgrgid(gid)
    except KeyError:
        return False
    names = {_name(uid) for uid in _trusted()}
    first = {user.pw_name for user in pwd.getpwall() if user.pw_gid == gid}
    return {*group.gr_mem, *first} <= names and (gid < SYSTEM_GROUPS or group.gr_name in names)


def _expected() -> str:
    return "root" if os.geteuid() == ROOT else f"{_user(os.geteuid())} (you) or root"


def _remedy() -> str:
    return f"build your own in a folder that TRAINBUGS_CACHE names, or trust this one by {OPTION}"


def _user(uid: int) -> str:
    return _name(uid) or f"user {uid}"


def _name(uid: int) -> str | None:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def _folders(folder: Path, depth: int) -> Iterator[tuple[str, os.stat_result]]:
    """The folders at most `depth` below one, and itself, with their status; links are not
    followed.
    """
    folders = [(str(folder), depth)]
    while folders:
        path, levels = folders.pop()
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            yield path, os.fstat(handle)
            if levels:
                with os.scandir(handle) as entries:
                    names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
                folders += [(f"{path}/{name}", levels - 1) for name in names]
        finally:
            os.close(handle)


def _below(folder: Path) -> Iterator[Path]:
    for below, folders, files in os.walk(folder, followlinks=False):
        for name in (*folders, *files):
            yield Path(below, name)
