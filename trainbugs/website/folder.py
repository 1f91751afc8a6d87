"""A website as pages and files, and its folder: a new one that replaces an older one."""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runner.errors import ResultsError, UsageError
from runner.files import swap, untrusted

# What tells that a folder was made here, and may be replaced.
MARKER = ".trainbugs-site"
MAX_MARKER_BYTES = 2_000_000


@dataclass
class Website:
    """The pages and files by their places, and a line for each thing that could not be read."""

    pages: dict[str, str] = field(default_factory=dict)
    files: dict[str, Path | bytes] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Bytes of all together."""
        pages = sum(len(page.encode()) for page in self.pages.values())
        return pages + sum(_size(content) for content in self.files.values())


def _size(content: Path | bytes) -> int:
    return len(content) if isinstance(content, bytes) else content.stat().st_size


def write(website: Website, out: Path) -> None:
    """Write the website; a folder that is there already is replaced if it is an older one and no
    more, or empty.

    Raises UsageError for another folder, ResultsError where nothing can be written.
    """
    try:
        swap.recover(out.resolve())
        _check_replaceable(out)
        with swap.changing(out, anew=True) as folder:
            _fill(website, folder)
    except OSError as error:
        raise ResultsError(
            f"{out}: cannot be written: {error.strerror}; name a folder with room by --out"
        ) from error


def _fill(website: Website, folder: Path) -> None:
    for name, page in website.pages.items():
        _with_parent(folder / name).write_text(page, encoding="utf-8")
    for name, content in website.files.items():
        path = _with_parent(folder / name)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            shutil.copyfile(content, path)
    names = sorted({*website.pages, *website.files})
    lines = [f"{json.dumps(name)}\n" for name in names]
    (folder / MARKER).write_text("".join(lines), encoding="utf-8")


def _check_replaceable(out: Path) -> None:
    """Raise UsageError where something would be lost that this command did not write."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not (out / MARKER).is_file():
        raise UsageError(
            f"{out} exists, and is no site that this command made; name another folder by --out"
        )
    try:
        lines = untrusted.read_text(out / MARKER, MAX_MARKER_BYTES, out).splitlines()
    except untrusted.UnsafeError as error:
        raise UsageError(f"{out / MARKER} {error}; name another folder by --out") from error
    written = {json.dumps(MARKER), *lines}
    for place in _places(out):
        if json.dumps(place) not in written:
            shown = untrusted.shown(Path(place))
            raise UsageError(
                f"{out} holds {shown}, which this command did not write, and which would be lost; "
                "move it away, or name another folder by --out"
            )


def _places(out: Path) -> Iterator[str]:
    """The places of all files of a folder, and of links to folders, in their order."""
    for folder, folders, files in os.walk(out):
        folders.sort()
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in sorted(files + links):
            yield Path(folder, name).relative_to(out).as_posix()


def _with_parent(path: Path) -> Path:
    """The path, whose folder is made if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
