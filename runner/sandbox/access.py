"""What a program may reach of the file system: the paths that supervisor.py is given."""

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

# What every program needs of the system. Not /home, /root, /srv, /tmp, /var, /run, /mnt.
SYSTEM = ("/bin", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/opt", "/proc", "/sbin", "/sys", "/usr")
# Devices that programs write to: memory, randomness, terminals of their own, accelerators. No disk is among them.
DEVICES = ("null", "zero", "full", "random", "urandom", "ptmx", "pts", "shm", "kfd", "dri", "dxg", "infiniband")
# Beside HOME there may be thousands of others, which are no business of a program.
MAX_SIBLINGS = 500


@dataclass(frozen=True)
class Access:
    """Paths below which a program may read, and those below which it may write too, beside its temporary folder.

    `means` is what keeps it to them: landlock or namespaces.
    """

    read: tuple[Path, ...]
    write: tuple[Path, ...]
    means: str = "landlock"

    def words(self) -> Iterator[str]:
        """The paths as arguments of supervisor.py; one with a line break in its name is left out."""
        yield f"means={self.means}"
        for name, paths in (("read", self.read), ("write", self.write)):
            yield f"{name}=" + "\n".join(text for text in map(str, paths) if "\n" not in text)


def open_access(write: Iterable[Path], interpreter: Iterable[Path], means: str = "landlock") -> Access:
    """Everything may be read but the user's HOME, of that only what the interpreter needs, which may lie there."""
    return Access((*_all_but(_home()), *_existing([*interpreter, *_search_path()])), (*devices(), *write), means)


def closed_access(write: Iterable[Path], read: Iterable[Path], means: str = "landlock") -> Access:
    """Only the system and what is named may be read."""
    return Access((*_existing(map(Path, SYSTEM)), Path("/dev"), *_existing(read)), (*devices(), *write), means)


def devices() -> tuple[Path, ...]:
    """The devices of this machine that a program may write to."""
    return tuple(path for path in Path("/dev").glob("*") if path.name in DEVICES or path.name.startswith("nvidia"))


def own_interpreter() -> tuple[Path, ...]:
    """What the interpreter of this program reads: for programs that it runs."""
    folders = (sys.prefix, sys.base_prefix, sys.exec_prefix, sys.executable, os.path.realpath(sys.executable))
    return tuple(dict.fromkeys(Path(folder) for folder in folders))


def _home() -> Path:
    return Path(os.environ.get("HOME") or Path.home()).resolve()


def _search_path() -> Iterator[Path]:
    """Folders of libraries and commands that the user's environment names, which a program inherits."""
    for name in ("LD_LIBRARY_PATH", "PATH"):
        yield from (Path(part) for part in os.environ.get(name, "").split(os.pathsep) if part.startswith("/"))


def _existing(paths: Iterable[Path]) -> list[Path]:
    """The paths that exist, without links, each once; never one that holds HOME."""
    home = _home()
    real = dict.fromkeys(path.resolve() for path in paths if os.access(path, os.F_OK))
    return [path for path in real if not home.is_relative_to(path)]


def _all_but(home: Path) -> list[Path]:
    """Paths that together cover everything but `home` that this user can read; all, where HOME is the root."""
    if home == Path("/"):
        return [home]
    return [path for folder in home.parents for path in _siblings(folder) if not home.is_relative_to(path)]


def _siblings(folder: Path) -> list[Path]:
    """What a folder holds, without links: one may lead to HOME, and what others lead to is reached by itself."""
    try:
        with os.scandir(folder) as entries:
            some = [entry for entry, _ in zip(entries, range(MAX_SIBLINGS), strict=False)]
    except OSError:
        return []
    return [Path(entry.path) for entry in some if not entry.is_symlink() and os.access(entry.path, os.R_OK)]
