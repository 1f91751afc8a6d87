"""A change of many files of a folder at once: a crash, at whichever moment, leaves all old files or
all new ones.

The change is prepared in a copy, `<folder>/.swap/<name of the folder>`. A journal then names the
files that are replaced and removed, which is done one by one. Where a command was killed, the next
one that changes or reads the folder does the rest if there is a journal, and drops the copy if
there is none.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from msgspec import Struct, to_builtins

from runner.errors import ResultsError, TrainbugsError
from runner.files import untrusted
from runner.files.locks import PREFIX
from runner.files.structs import MismatchError, as_struct
from runner.files.trees import remove_tree

HIDDEN = ".swap"
JOURNAL, DRAFT, LOCK = "journal", "journal.part", "lock"
MAX_JOURNAL_BYTES = 20_000_000

# What tells whether a file is still what it was: its number on the disk, its time in nanoseconds,
# its size in bytes.
State = tuple[int, int, int]


class Journal(Struct, frozen=True, forbid_unknown_fields=True):
    """The files that a change replaces and removes, by their paths in the folder."""

    replaced: tuple[str, ...]
    removed: tuple[str, ...]


@contextmanager
def changing(folder: Path, anew: bool = False) -> Iterator[Path]:
    """A context with a copy of a folder, called as the folder is; at its end the folder becomes
    what the copy is then.

    With `anew` the copy is empty at first. Files that the context leaves alone stay untouched. An
    exception leaves the folder as it was; its message, where it is one of ours, names the files of
    the folder. Raises ResultsError where nothing can be written.
    """
    with _explaining(folder):
        folder.mkdir(parents=True, exist_ok=True)
        folder = folder.resolve()
    with _holding(folder) as hidden:
        with _explaining(folder):
            _settle(folder)
            # Git takes no notice of a folder in which all is ignored: no run is of changed files
            # because of it.
            (hidden / ".gitignore").write_text("*\n", encoding="utf-8")
            stage = hidden / folder.name
            before = _states(folder) if anew else _copied(folder, stage)
            stage.mkdir(exist_ok=True)
        try:
            yield stage
            with _explaining(folder):
                _write_journal(hidden, stage, before)
        except TrainbugsError as error:
            raise type(error)(str(error).replace(str(stage), str(folder))) from error
        finally:
            with _explaining(folder):
                _finish(folder)


def recover(folder: Path) -> None:
    """Finish or drop what a killed command has left of a change of this folder, if it has left
    anything.

    A change that another command is preparing is left alone. Raises ResultsError where files were
    replaced, and the rest cannot be.
    """
    hidden = folder / HIDDEN
    if not os.path.lexists(hidden) or folder.is_symlink():
        return
    begun = os.path.lexists(hidden / JOURNAL)
    try:
        if hidden.lstat().st_uid != os.geteuid():
            raise PermissionError(0, "it belongs to another user")
        # One that has a journal takes an instant.
        descriptor = _lock(hidden, wait=begun)
        if descriptor is None:
            return
        try:
            _finish(folder)
        finally:
            os.close(descriptor)
    except OSError as error:
        if begun and os.path.lexists(hidden / JOURNAL):
            raise ResultsError(
                f"{untrusted.shown(folder)}: a command was killed while it replaced files here, "
                f"and the rest cannot be replaced: {error.strerror}; run this command as who may "
                "write there"
            ) from error


@contextmanager
def _explaining(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ResultsError(
            f"{untrusted.shown(folder)}: cannot be written: {error.strerror or error}; expected a "
            "folder with room"
        ) from error


@contextmanager
def _holding(folder: Path) -> Iterator[Path]:
    """The hidden folder, which nobody else works in until the end of the context; raises
    ResultsError.
    """
    hidden = folder / HIDDEN
    with _explaining(folder):
        descriptor = None
        while descriptor is None:
            hidden.mkdir(parents=True, exist_ok=True)
            descriptor = _lock(hidden, wait=True)
    try:
        yield hidden
    finally:
        os.close(descriptor)


def _lock(hidden: Path, wait: bool) -> int | None:
    """The descriptor of the locked file in the hidden folder; None where another has it, or has
    removed it meanwhile.

    Raises OSError.
    """
    if hidden.is_symlink():
        raise NotADirectoryError(0, f"{HIDDEN} is a link; remove it")
    try:
        descriptor = os.open(
            hidden / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666
        )
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(descriptor)
        return None
    if os.fstat(descriptor).st_nlink:
        return descriptor
    os.close(descriptor)
    return None


def _copied(folder: Path, stage: Path) -> dict[str, State]:
    """Copy the folder; returns the states of the copies. Raises OSError.

    They are no hard links: what writes to one would change the folder itself.
    """
    try:
        shutil.copytree(folder, stage, symlinks=True, ignore=_hidden)
    except shutil.Error as error:  # it has a list of all that failed
        raise OSError(0, str(error.args[0][0][2])) from error
    return _states(stage)


def _hidden(_: str, names: list[str]) -> list[str]:
    return [name for name in names if name == HIDDEN or name.startswith(PREFIX)]


def _states(folder: Path) -> dict[str, State]:
    """The states of all files below a folder, by their paths."""
    states = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if name.split("/")[0] == HIDDEN or (path.is_dir() and not path.is_symlink()):
            continue
        status = path.lstat()
        states[name] = (status.st_ino, status.st_mtime_ns, status.st_size)
    return states


def _write_journal(hidden: Path, stage: Path, before: dict[str, State]) -> None:
    """Write what is to be done; from then on it will be.

    Raises OSError, ResultsError for an odd name.
    """
    after = _states(stage)
    replaced = sorted(name for name, state in after.items() if before.get(name) != state)
    removed = sorted(set(before) - set(after))
    if not replaced and not removed:
        return
    odd = next((name for name in (*replaced, *removed) if untrusted.SURROGATE.search(name)), None)
    if odd is not None:
        raise ResultsError(f"{odd!r} is no name in UTF-8; move the file away")
    for name in replaced:
        _to_disk(stage / name)
    draft = hidden / DRAFT
    draft.write_text(
        json.dumps(to_builtins(Journal(tuple(replaced), tuple(removed)))), encoding="utf-8"
    )
    _to_disk(draft)
    draft.replace(hidden / JOURNAL)
    _to_disk(hidden)


def _to_disk(path: Path) -> None:
    """Make sure that the disk has a file, or the names in a folder; raises OSError."""
    if path.is_symlink():
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _settle(folder: Path) -> None:
    """Finish a change that has a journal, and drop any other; the lock is held. Raises OSError."""
    hidden = folder / HIDDEN
    if os.path.lexists(hidden / JOURNAL):
        stage = hidden / folder.resolve().name
        # A stranger's folder may come with a link to files of the user, which would be moved away.
        if stage.is_symlink():
            raise NotADirectoryError(
                0, f"{HIDDEN}/{untrusted.brief(stage.name)} is a link; remove {HIDDEN}"
            )
        _apply(folder, stage, _journal(hidden / JOURNAL))
        (hidden / JOURNAL).unlink()
    for path in hidden.iterdir():
        if path.name != LOCK:
            _remove(path)


def _finish(folder: Path) -> None:
    """Settle a change, also where Ctrl-C comes meanwhile, and leave. Raises OSError."""
    try:
        _settle(folder)
    except KeyboardInterrupt:
        _settle(folder)
        raise
    finally:
        _leave(folder)


def _leave(folder: Path) -> None:
    """Give up the lock, and remove the hidden folder where nothing is left to do in it.

    Raises OSError.
    """
    hidden = folder / HIDDEN
    (hidden / LOCK).unlink(missing_ok=True)
    # Another command may be there already. A folder that is empty was made for the change.
    with suppress(OSError):
        hidden.rmdir()
        folder.rmdir()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        remove_tree(path)
    else:
        path.unlink()


def _journal(path: Path) -> Journal:
    """What is to be done; raises OSError for a file that is no journal, and for one that leads out
    of the folder.
    """
    try:
        journal = as_struct(untrusted.read_json(path, MAX_JOURNAL_BYTES), Journal)
    except (untrusted.UnsafeError, MismatchError) as error:
        raise OSError(0, f"{HIDDEN}/{JOURNAL} is none: {error}; remove {HIDDEN}") from error
    for name in (*journal.replaced, *journal.removed):
        parts = PurePosixPath(name).parts
        if not parts or parts[0] in ("/", HIDDEN) or ".." in parts:
            raise OSError(
                0,
                f"{HIDDEN}/{JOURNAL} names {untrusted.brief(name)}, no file of it; remove {HIDDEN}",
            )
    return journal


def _apply(folder: Path, stage: Path, journal: Journal) -> None:
    """Remove and replace files, other than those of which that is done already; raises OSError."""
    for name in journal.removed:
        _inside(folder, name).unlink(missing_ok=True)
        for parent in PurePosixPath(name).parents[:-1]:
            with suppress(OSError):  # it holds more, or is gone
                (folder / parent).rmdir()
    for name in journal.replaced:
        source = _inside(stage, name)
        if os.path.lexists(source):
            target = _inside(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            source.replace(target)
    for place in {_inside(folder, name).parent for name in journal.replaced}:
        _to_disk(place)


def _inside(folder: Path, name: str) -> Path:
    """The path of a file; raises OSError where a link leads out of the folder."""
    path = folder / name
    if not path.parent.resolve().is_relative_to(folder.resolve()):
        raise OSError(0, f"{untrusted.brief(name)} leads out of it; remove {HIDDEN}")
    return path
