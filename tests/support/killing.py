"""Commands that are killed at each of their writes, one after the other,
in children of the test.
"""

import itertools
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Functions of the C code of Python that change a disk, by their names.
WRITES_TEXT = "open write writelines fsync rename replace unlink remove rmdir mkdir link"
WRITES = frozenset(WRITES_TEXT.split())
# A test that needs more is about more than one promotion.
MOST = 3000


def contents(folder: Path) -> dict[str, bytes | None]:
    """All below a folder: the bytes of files, None for folders."""
    if not folder.is_dir():
        return {}
    return {
        path.relative_to(folder).as_posix(): None if path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


def files(folder: Path) -> dict[str, bytes | None]:
    """The files below a folder, without the folders that they are in."""
    return {name: content for name, content in contents(folder).items() if content is not None}


def killed_at(number: int, change: Callable[[], object]) -> bool:
    """Do a change in a child that SIGKILL ends just before its write of that number;
    False if it did not come.
    """
    child = os.fork()
    if not child:
        _become_a_victim(number, change)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return True
    assert status == 0, f"the change failed before it was killed: {status}"
    return False


def _become_a_victim(number: int, change: Callable[[], object]) -> None:
    countdown = itertools.count(number, -1)

    def count(frame: object, event: str, function: Any) -> None:
        if event == "c_call" and function.__name__ in WRITES and next(countdown) == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    status = 1
    try:
        threading.setprofile(count)
        sys.setprofile(count)
        change()
        sys.setprofile(None)
        status = 0
    except BaseException as error:
        print(repr(error), file=sys.__stderr__)
    finally:
        os._exit(status)


def at_each_write(folder: Path, change: Callable[[], object], step: int = 1) -> Iterator[int]:
    """Do the change of a folder again and again, each time killed at a later write;
    yields after each death.

    The folder is put back before. The last time nothing is killed. A `step` leaves out writes.
    """
    saved = folder.with_name(f"{folder.name}.saved")
    if folder.exists():
        shutil.copytree(folder, saved, symlinks=True)
    for number in range(1, MOST * step, step):
        shutil.rmtree(folder, ignore_errors=True)
        if saved.exists():
            shutil.copytree(saved, folder, symlinks=True)
        killed = killed_at(number, change)
        yield number
        if not killed:
            shutil.rmtree(saved, ignore_errors=True)
            return
    raise AssertionError(f"more than {MOST} writes")


def check_all_or_nothing(
    folder: Path, change: Callable[[], object], recover: Callable[[], object], step: int = 1
) -> int:
    """After each death and a `recover`, the folder has all that it had, or all that it gets;
    returns the deaths.
    """
    before = files(folder)
    states = []
    for _ in at_each_write(folder, change, step):
        recover()
        states.append(files(folder))
    after = states[-1]
    assert after != before
    for number, state in enumerate(states):
        assert state in (before, after), (
            f"a mixture, or a leftover, at death {number}: {sorted(state)}"
        )
    assert states[0] == before
    assert len(states) > 3
    return len(states)
