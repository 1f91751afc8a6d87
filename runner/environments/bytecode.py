"""Bytecode that environments share: a module that lies in several of them is compiled once.

uv links the files of an environment to its cache, so that the same module has the same contents and
the same time of change in all environments. Its bytecode is kept under both, and linked as well.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from runner.environments import owner, wheels

FOLDER = "bytecode"


@dataclass(frozen=True)
class SharedBytecode:
    """The bytecode of the modules below `venv`, and the folder `store` in which it is kept.

    `hashes` are the SHA-256 of all files below `venv`, by relative path; `python` is the version
    that compiles, as 3.11. A file in the store is named by the module's contents, its time of
    change, and its own contents: an edit in an environment reaches the store, and is noticed.
    """

    venv: Path
    store: Path
    hashes: Mapping[str, str]
    python: str

    def link(self) -> None:
        """Remove bytecode that wheels brought, which nobody has checked, and link what is kept."""
        for path in self.hashes:
            if path.endswith(".pyc"):
                (self.venv / path).unlink(missing_ok=True)
        kept_files = self._kept()
        for name, place in self._places():
            stored = kept_files.get(name)
            if stored is None:
                continue
            if _digest(stored) != _named_digest(stored):
                stored.unlink()
                continue
            # Bytecode that cannot be linked is compiled.
            with suppress(OSError):
                place.parent.mkdir(exist_ok=True)
                place.hardlink_to(stored)

    def keep(self) -> None:
        """Link what was compiled for modules that other environments may hold into the store."""
        kept_files = self._kept()
        for name, place in self._places():
            if name in kept_files or not place.is_file():
                continue
            with suppress(OSError):
                stored = self._folder / name[:2] / f"{name[2:]}-{_digest(place)}.pyc"
                owner.make_cache(stored.parent)
                stored.hardlink_to(place)

    @property
    def _tag(self) -> str:
        return f"cpython-{self.python.replace('.', '')}"

    @property
    def _folder(self) -> Path:
        return self.store / self._tag

    def _kept(self) -> dict[str, Path]:
        """The files of the store, by the name of a module's state."""
        files = {}
        for path in self._folder.glob("*/*.pyc"):
            files[path.parent.name + path.stem.rpartition("-")[0]] = path
        return files

    def _places(self) -> Iterator[tuple[str, Path]]:
        """The name of each module's state, and where its bytecode lies in the environment.

        A module that uv has copied has a time of its own: it is in no other environment.
        """
        sites = tuple(
            f"{site.relative_to(self.venv)}/" for site in self.venv.glob(wheels.SITE_PACKAGES)
        )
        for path, digest in self.hashes.items():
            if not path.endswith(".py") or not path.startswith(sites):
                continue
            module = self.venv / path
            status = module.stat()
            if status.st_nlink > 1:
                place = module.parent / "__pycache__" / f"{module.stem}.{self._tag}.pyc"
                yield f"{digest}-{int(status.st_mtime)}", place


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _named_digest(stored: Path) -> str:
    """The digest that the name of a file in the store has."""
    return stored.stem.rpartition("-")[2]


def prune(store: Path) -> None:
    """Remove the bytecode that no environment holds any more."""
    for folder, _, names in os.walk(store):
        for name in names:
            path = Path(folder, name)
            with suppress(OSError):
                if path.stat().st_nlink == 1:
                    path.unlink()
