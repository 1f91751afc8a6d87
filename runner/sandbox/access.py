"""What a program may reach of the file system: the paths that supervisor.py is given."""

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import runner

# What keeps a program to its paths; the first one is the strongest.
Isolation = Literal["namespaces+landlock", "namespaces", "landlock", "none"]

# What every program needs of the system. Not /home, /root, /srv, /tmp, /var, /run, /mnt.
SYSTEM = (
    "/bin", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/opt", "/proc", "/sbin", "/sys",
    "/usr",
)  # fmt: skip
# Devices that programs write to: memory, randomness, accelerators. No disk and no terminal is among
# them: whoever may open the terminal of a user reads what is typed there.
DEVICES = ("null", "zero", "full", "random", "urandom", "shm", "kfd", "dri", "dxg", "infiniband")
DEVICE_FOLDER = Path("/dev")
# Folders with what other programs are doing just now: their temporary files, their sockets.
SOCKETS = ("/run", "/var/run")
BUSY = ("/tmp", "/var/tmp", *SOCKETS)
# Folders below SOCKETS by which names of hosts and users are looked up.
LOOKUPS = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/run/nscd")
# Beside HOME there may be thousands of others, which are no business of a program.
MAX_SIBLINGS = 500
# A circle of links leads nowhere.
MAX_LINKS = 100


@dataclass(frozen=True)
class Access:
    """Paths below which a program may read, and those below which it may write too.

    Its temporary folder comes on top. What lies below a path of `hidden` cannot be reached, except
    for paths of `read` and `write` that are still deeper. `isolation` is what keeps it to them.
    `links` are the links by which one of them may be named: what each is called, and leads to.
    """

    read: tuple[Path, ...]
    write: tuple[Path, ...]
    hidden: tuple[Path, ...] = ()
    isolation: Isolation = "namespaces+landlock"
    links: tuple[tuple[str, str], ...] = ()

    def words(self) -> Iterator[str]:
        """The paths as arguments of supervisor.py; one with a line break in its name is left
        out.
        """
        yield f"isolation={self.isolation}"
        if self.isolation == "none":
            return
        hidden, readable = self.hidden, self.read
        if self.isolation == "landlock":
            # Landlock only allows: what is not hidden has to be named.
            readable, hidden = tuple(_without(readable, hidden)), ()
        for name, paths in (("read", readable), ("write", self.write), ("hidden", hidden)):
            texts = [str(path) for path in paths]
            yield f"{name}=" + "\n".join(text for text in texts if "\n" not in text)
        if "namespaces" in self.isolation:
            pairs = ["\n".join(pair) for pair in self.links if "\n" not in "".join(pair)]
            yield "links=" + "\n".join(pairs)


def open_access(
    write: Iterable[Path],
    needed: Iterable[Path],
    isolation: Isolation = "namespaces+landlock",
    hidden: Iterable[Path] = (),
) -> Access:
    """Everything may be read but HOME, temporary files, trainbugs itself, and what is `hidden`.

    Of these, only what is `needed` and on the user's search paths: an interpreter, say.
    """
    busy = [Path(folder) for folder in (*BUSY, tempfile.gettempdir())]
    lookups = [Path(folder) for folder in LOOKUPS]
    paths = [*needed, *_search_path(), *lookups]
    away = _existing_folders([_home(), *busy, *our_folders(), *hidden, DEVICE_FOLDER])
    readable = (Path("/"), *_existing(paths))
    return Access(readable, (*devices(), *write), away, isolation, _links(paths))


def closed_access(
    write: Iterable[Path],
    needed: Iterable[Path],
    isolation: Isolation = "namespaces+landlock",
    hidden: Iterable[Path] = (),
) -> Access:
    """Only the system, without trainbugs itself, and what is `needed` may be read."""
    paths = [*map(Path, SYSTEM), *needed]
    away = _existing_folders([_home(), *our_folders(), *hidden, DEVICE_FOLDER])
    return Access(tuple(_existing(paths)), (*devices(), *write), away, isolation, _links(paths))


def reading_access(write: Iterable[Path], isolation: Isolation = "namespaces+landlock") -> Access:
    """Everything that the user may read can be read, but for devices and sockets of services."""
    readable = [Path("/"), *_existing([Path(folder) for folder in LOOKUPS])]
    hidden = _existing_folders([DEVICE_FOLDER, *map(Path, SOCKETS)])
    return Access(tuple(readable), (*devices(), *write), hidden, isolation)


def devices(folder: Path = DEVICE_FOLDER) -> tuple[Path, ...]:
    """The devices of this machine that a program may write to."""
    paths = sorted(folder.glob("*"))
    return tuple(path for path in paths if path.name in DEVICES or path.name.startswith("nvidia"))


def own_interpreter() -> tuple[Path, ...]:
    """What the interpreter of this program reads: for programs that it runs."""
    executables = (sys.executable, os.path.realpath(sys.executable))
    paths = (sys.prefix, sys.base_prefix, sys.exec_prefix, *executables)
    return tuple(dict.fromkeys(map(Path, paths)))


def our_folders() -> tuple[Path, ...]:
    """The folders of trainbugs: a checkout, or its packages where they are installed.

    The catalogue, its records and all that tells buggy from fixed lie there. Packages that it
    depends on are not among them.
    """
    around = Path(runner.__file__).resolve().parents[1]
    if (around / "trainbugs" / "bugs").is_symlink():
        return (around,)
    packages = [around / name for name in ("runner", "evaluation", "plots", "trainbugs")]
    return (*packages, *around.glob("trainbugs-*.dist-info"))


def _home() -> Path:
    return Path(os.environ.get("HOME") or Path.home()).resolve()


def _search_path() -> Iterator[Path]:
    """Folders of libraries and commands that the user's environment names, which a program
    inherits.
    """
    for name in ("LD_LIBRARY_PATH", "PATH"):
        parts = os.environ.get(name, "").split(os.pathsep)
        yield from (Path(part) for part in parts if part.startswith("/"))


def _existing(paths: Iterable[Path]) -> list[Path]:
    """The paths that exist, without links, each once."""
    existing = [path for path in paths if os.access(path, os.F_OK)]
    return list(dict.fromkeys(path.resolve() for path in existing))


def _links(paths: Iterable[Path]) -> tuple[tuple[str, str], ...]:
    """The links on the way to these paths: the name of each, and what it leads to."""
    links: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        folder, parts = Path("/"), list(path.absolute().parts[1:])
        while parts and len(links) < MAX_LINKS:
            part = parts.pop(0)
            step = folder.parent if part == ".." else folder / part
            target = None if str(step) in links else _target(step)
            if target is None:
                folder = step
                continue
            links[str(step)] = str(target)
            folder = Path("/") if target.is_absolute() else folder
            parts = [*target.parts[target.is_absolute() :], *parts]
    return tuple(links.items())


def _target(path: Path) -> Path | None:
    """What a link leads to; None for anything else, and where the user may not look: a program may
    not look there either.
    """
    try:
        return path.readlink()
    except OSError:
        return None


def _existing_folders(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The folders among the paths, without links, each once; the root of all cannot be hidden."""
    real = dict.fromkeys(path.resolve() for path in paths)
    return tuple(path for path in real if path.is_dir() and path != Path("/"))


def _without(paths: Sequence[Path], hidden: Sequence[Path]) -> Iterator[Path]:
    """Paths that cover what lies below `paths`, and nothing of what is hidden below one of them."""
    for path in paths:
        if path in hidden:
            continue
        below = [folder for folder in hidden if folder.is_relative_to(path)]
        if not below:
            yield path
        else:
            yield from _without(_children(path), below)


def _children(folder: Path) -> list[Path]:
    """What a folder holds, without links: one may lead to what is hidden.

    What others lead to is reached by itself.
    """
    try:
        with os.scandir(folder) as entries:
            some = [entry for entry, _ in zip(entries, range(MAX_SIBLINGS), strict=False)]
    except OSError:
        return []
    paths = [Path(entry.path) for entry in some if not entry.is_symlink()]
    return [path for path in paths if os.access(path, os.R_OK)]
