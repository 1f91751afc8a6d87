"""Downloads of data sets: into a folder of the run's own, and from there, checked, into the
cache.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from runner.environments.owner import close_to_others, make_cache
from runner.environments.spec import cache_root
from runner.errors import ResultsError
from runner.execution.key import where_data_lies
from runner.execution.run import Run
from runner.files.untrusted import shown

# What a script finds in TRAINBUGS_CACHE.
DATA = "data"


def cache_for(run: Run, directory: Path) -> Path:
    """The folder of downloads for a run in `directory`: the cache, which it only reads, if that has
    all of its data.

    Else a folder of its own, into which it downloads.
    """
    return directory / "downloads" if downloads(run) else cache_root()


def downloads(run: Run) -> bool:
    """Whether the run has to download its data: no folder was named, and the cache lacks some of
    it.
    """
    return run.data is None and not _all_as_declared(cache_root() / DATA, run)


def advice(runs: Iterable[Run]) -> str | None:
    """A line about the data that these runs download; None where none does."""
    cases = {run.case.id: run.case for run in runs if downloads(run)}
    if not cases:
        return None
    *_, last = cases.values()
    return (
        f"{', '.join(cases)}: the data is downloaded; without a network name "
        f"{where_data_lies(last)}"
    )


def explained(run: Run, directory: Path, reason: str) -> str:
    """Why a run in `directory` crashed, with what to do where it has not got its data.

    Then only the first sentence of the script's own reason stays: its advice may be about the
    folder of this run, which is gone afterwards.
    """
    if not downloads(run) or all(
        (directory / "downloads" / DATA / name).is_file() for name in run.case.program.data
    ):
        return reason
    why = reason.partition(". ")[0]
    return f"its data was not downloaded: name {where_data_lies(run.case)}; {why}"


def _all_as_declared(folder: Path, run: Run) -> bool:
    """Whether a folder has all data of a run, as the case declares it: another bug may have put
    other data there.
    """
    hashes = run.case.program.sha256
    return all(_is_as_declared(folder / name, hashes.get(name)) for name in run.case.program.data)


def _is_as_declared(path: Path, expected: str | None) -> bool:
    if expected is None or not path.is_file():
        return False
    status = path.stat()
    return _sha256(path, (status.st_ino, status.st_size, status.st_mtime_ns)) == expected


@lru_cache(maxsize=1000)
def _sha256(path: Path, _state: tuple[int, int, int]) -> str:
    """The SHA-256 of a file in hexadecimal digits, computed once for each state of it."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def keep(run: Run, directory: Path) -> str | None:
    """Put what a run has downloaded into the cache, for the next one; a line about what is not as
    the case says.

    Only files whose hash the case declares are kept. Raises ResultsError where the cache cannot be
    written.
    """
    folder = directory / "downloads" / DATA
    for name, expected in run.case.program.sha256.items():
        # A link may lead anywhere; the program has ended, so that it cannot be exchanged any more.
        file = (folder / name).resolve()
        if not folder.exists() or not file.is_relative_to(folder.resolve()) or not file.is_file():
            continue
        try:
            problem = _keep(file, cache_root() / DATA / name, expected)
        except OSError as error:
            raise ResultsError(
                f"{shown(cache_root())}: cannot be written: {error.strerror or error}; name a "
                "folder of yours in TRAINBUGS_CACHE"
            ) from error
        if problem:
            return f"downloaded {name}: {problem}"
    return None


def _keep(file: Path, target: Path, expected: str) -> str | None:
    make_cache(target.parent)
    with tempfile.TemporaryDirectory(prefix=".download-", dir=target.parent) as scratch:
        copy = Path(scratch, "copy")
        shutil.copyfile(file, copy)
        with copy.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        if digest != expected:
            return f"its SHA-256 is {digest}, expected {expected}"
        close_to_others(copy)
        # What is there stays: a run may be reading it. A run for which it is wrong downloads its
        # own.
        with suppress(FileExistsError):
            os.link(copy, target)
    return None
